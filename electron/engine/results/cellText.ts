/**
 * Shortest decimal text that reads back as the same float32, written like NumPy's `str(numpy.float32(x))`:
 * positional from 1e-4 to below 1e6 (older NumPy: 1e16), else with an exponent of at least two digits.
 * A decimal reads back as x if it is within half the distance to the neighbouring float32 numbers. In each
 * binade there is a largest k for which multiples of 10^-k are further apart than float32 numbers: at most
 * one of these can be within that distance, and if so it is the shortest. Otherwise the nearest multiple of
 * 10^-(k + 1) to x is.
 */
export function float32Text(x: number): string {
  if (x === 0) return Object.is(x, -0) ? '-0.0' : '0.0';
  if (Number.isNaN(x)) return 'nan';
  if (x < 0) return `-${float32Text(-x)}`;
  if (x === Infinity) return 'inf';
  FLOAT[0] = x;
  const bits = BITS[0]!;
  const exponent = bits >>> 23;
  const k = COARSE_DECIMALS[exponent]!;
  // Powers of two have a nearer neighbour below; subnormals and numbers from 2^23 on are rare. Both need
  // exact arithmetic.
  if ((bits & 0x7fffff) === 0) return powerOfTwoText(bits, x);
  if (k < 0) return exactText(bits, x);

  const halfSpacing = HALF_SPACING[exponent]!;
  let scaled = x * POWERS_OF_TEN[k]!;
  let digits = nearestInteger(scaled);
  const within = halfSpacing * POWERS_OF_TEN[k]! - Math.abs(digits - scaled);
  if (within > DOUBT) return decimalText(digits, k, x);
  if (within > -DOUBT) return exactText(bits, x);
  scaled = x * POWERS_OF_TEN[k + 1]!;
  digits = nearestInteger(scaled);
  return digits < 0 ? exactText(bits, x) : decimalText(digits, k + 1, x);
}

const FLOAT = new Float32Array(1);
const BITS = new Uint32Array(FLOAT.buffer);

/** Fractions of chunks make some powers of two, such as 0.5, very common; there are few of them. */
const POWER_TEXTS = new Map<number, string>();

function powerOfTwoText(bits: number, x: number): string {
  let text = POWER_TEXTS.get(bits);
  if (text === undefined) POWER_TEXTS.set(bits, (text = exactText(bits, x)));
  return text;
}

/** Scaled values have at most ten digits; doubles carry them to 1e-6 and better. Closer decisions are made exactly. */
const DOUBT = 1e-6;

const POWERS_OF_TEN = Float64Array.from({ length: 60 }, (_, k) => Number(`1e${k}`));

/** Half the distance between float32 numbers, by biased exponent. */
const HALF_SPACING = Float64Array.from({ length: 256 }, (_, exponent) => 2 ** (exponent - 151));

/** The largest k with 10^-k above the spacing of float32 numbers, by biased exponent; -1 if it isn't used. */
const COARSE_DECIMALS = Int8Array.from({ length: 256 }, (_, exponent) => {
  const spacing = 2 ** (exponent - 150);
  return exponent === 0 || spacing >= 1 ? -1 : Math.ceil(-Math.log10(spacing)) - 1;
});

/** Rounds ties to the even integer; -1 if the double can't tell which side of a half it is on. */
function nearestInteger(scaled: number): number {
  const below = Math.floor(scaled);
  const fraction = scaled - below;
  if (Math.abs(fraction - 0.5) < DOUBT) return -1;
  return fraction < 0.5 ? below : below + 1;
}

/** x as text, given its shortest decimal digits / 10^k. */
function decimalText(digits: number, k: number, x: number): string {
  while (digits % 10 === 0) {
    digits /= 10;
    k--;
  }
  const text = String(digits);
  const point = text.length - k; // The value is 0.d1d2d3... times 10^point.
  // Compares x itself, as NumPy does: the float32 nearest to 0.0001 is below it and is written as 1e-04.
  if (x < 1e-4 || x >= 1e6) return exponentText(text, point - 1);
  if (point <= 0) return ZEROS[-point]! + text;
  if (k <= 0) return `${text}${'0'.repeat(-k)}.0`;
  return `${text.slice(0, point)}.${text.slice(point)}`;
}

const ZEROS = ['0.', '0.0', '0.00', '0.000'];

function exponentText(digits: string, exponent: number): string {
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
  const size = Math.abs(exponent);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`;
}

/** The same in integer arithmetic, for any positive finite float32, also given by its bits. */
function exactText(bits: number, x: number): string {
  const biased = bits >>> 23;
  const fraction = bits & 0x7fffff;
  const significand = BigInt(biased === 0 ? fraction : fraction | 0x800000);
  const exponent = (biased === 0 ? 1 : biased) - 150;
  // Quarters of the spacing make both neighbours' midpoints integers: value = 4 * significand quarters.
  const value = 4n * significand;
  const below = fraction === 0 && biased > 1 ? 1n : 2n;
  const above = 2n;
  const isEven = significand % 2n === 0n;
  const shift = exponent - 2;
  const numerator = shift >= 0 ? 1n << BigInt(shift) : 1n;
  const denominator = shift >= 0 ? 1n : 1n << BigInt(-shift);

  for (let k = -38; ; k++) {
    const up = k >= 0 ? 10n ** BigInt(k) : 1n;
    const down = k >= 0 ? 1n : 10n ** BigInt(-k);
    // digits / 10^k = value quarters  <=>  digits * unit = value * scale
    const unit = denominator * down;
    const scale = numerator * up;
    const floor = (value * scale) / unit;
    const candidates = [floor, floor + 1n].filter((digits) => {
      const difference = digits * unit - value * scale;
      const margin = (difference < 0n ? below : above) * scale;
      const distance = difference < 0n ? -difference : difference;
      return distance < margin || (isEven && distance === margin);
    });
    const nearest = candidates.sort((a, b) => compareDistance(a, b, value * scale, unit))[0];
    if (nearest !== undefined) return decimalText(Number(nearest), k, x);
  }
}

function compareDistance(a: bigint, b: bigint, target: bigint, unit: bigint): number {
  const [toA, toB] = [absolute(a * unit - target), absolute(b * unit - target)];
  if (toA !== toB) return toA < toB ? -1 : 1;
  return a % 2n === 0n ? -1 : 1;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/**
 * Short names of inputs for tables: the file's name, with as many parent folders as distinguish it from the
 * others. If the same path is given twice, both keep the full path.
 */
export function inputLabels(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split(/[\\/]/).filter((part) => part !== ''));
  return parts.map((own, index) => {
    for (let depth = 1; depth <= own.length; depth++) {
      const label = own.slice(-depth).join('/');
      // A path that is given twice is one file.
      const isTaken = parts.some(
        (other, i) => paths[i] !== paths[index] && other.slice(-depth).join('/') === label,
      );
      if (!isTaken) return cellText(label);
    }
    return cellText(paths[index]!);
  });
}

/** Text that stays within one cell of a tab-separated table. */
export function cellText(text: string): string {
  return visibleText(text.replaceAll(/[\t\r\n]+/g, ' '));
}

const INVISIBLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces characters that control a terminal or change the text direction by their number: `\u001b`. */
export function visibleText(text: string): string {
  // Nearly every text has none, which a test finds faster.
  if (text.search(INVISIBLE) === -1) return text;
  return text.replaceAll(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
