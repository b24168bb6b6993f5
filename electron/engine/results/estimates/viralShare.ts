/** Sequences of one size class from one stretch of an input: their chunks, and what is known of those computed. */
export interface Stratum {
  readonly sizeClass: number;
  /** Of all its sequences, and of those chunks that are computed. A frame without a score counts as computed. */
  frames: number;
  framesDone: number;
  /** Chunks with a score, and those of them called virus. */
  scored: number;
  viral: number;
  /** Sequences with a frame by their number of chunks. */
  readonly sequences: Map<number, number>;
  /** Over sequences of which several chunks are scored: squared distances of calls from the mean of their sequence, and
   * degrees of freedom. */
  squares: number;
  freedom: number;
}

export function emptyStratum(sizeClass: number): Stratum {
  return {
    sizeClass,
    frames: 0,
    framesDone: 0,
    scored: 0,
    viral: 0,
    sequences: new Map(),
    squares: 0,
    freedom: 0,
  };
}

/** The share of chunks called virus that the finished run will show. For sequences of one chunk that is the share of sequences. */
export interface ShareEstimate {
  share: number;
  low: number;
  high: number;
}

/** A sample is looked at in strata: stretches of its sequences in their order, since within a round of the work the first have had their
 * turn and the last have not; and in each by the number of chunks from which a class on goes. */
export const STRETCHES = 16;
export const SIZE_CLASSES = [1, 2, 8, 64] as const;

export function sizeClass(chunks: number): number {
  return SIZE_CLASSES.findLastIndex((from) => chunks >= from);
}

/** Two-sided 95 %. */
const Z = 1.959964;
/** With so many computed chunks to be expected, a stratum has surely some; where it has none, what is computed is no sample. */
const SURELY_MET = 12;

/**
 * A stratified ratio estimate with Wilson's interval over an effective number of chunks. Each stratum counts with its share of all
 * frames. The variance follows from the order of work: of n chunks of a sequence either floor(np) or ceil(np) are computed, where p is
 * the share computed; so what differs between sequences adds only by that rounding, what differs within them by the chunks left out.
 * Both vanish as p comes to 1. Null where nothing is scored, or where what is computed is no sample of the strata.
 */
export function estimateShare(strata: readonly Stratum[]): ShareEstimate | null {
  const total = sum(strata, ({ frames }) => frames);
  const done = sum(strata, ({ framesDone }) => framesDone);
  const scored = sum(strata, (stratum) => stratum.scored);
  const viral = sum(strata, (stratum) => stratum.viral);
  if (scored === 0) return null;
  if (done >= total) return { share: viral / scored, low: viral / scored, high: viral / scored };
  const overall = viral / scored;
  const whole = joined(strata, done / total);
  const known = whole.filter((stratum) => stratum.scored > 0);
  if (whole.some((stratum) => stratum.scored === 0 && expectedChunks(stratum, done / total) >= SURELY_MET))
    return null;
  const weighed = sum(known, ({ frames }) => frames);
  let share = 0;
  let variance = 0;
  /** Variance where all chunks were called virus with the same chance, as a multiple of the variance of one call. */
  let perCall = 0;
  for (const stratum of known) {
    const weight = stratum.frames / weighed;
    const own = stratum.viral / stratum.scored;
    share += weight * own;
    const smooth = (stratum.viral + 2 * overall) / (stratum.scored + 2);
    const calls = smooth * (1 - smooth);
    const { within, between } = chunkVariance(stratum);
    const inner = Math.min(calls, (stratum.squares + calls) / (stratum.freedom + 1));
    const factor = (weight / stratum.scored) ** 2;
    variance += factor * (inner * within + (calls - inner) * between);
    perCall += factor * within;
  }
  const spread = share * (1 - share);
  const effective = spread > 0 && variance > 0 ? spread / variance : 1 / perCall;
  return wilson(share, effective);
}

/** Lower bounds of the expected count behind 1, 2 or 3 observed ones, by Poisson's distribution at 5 %: where so few were met, Wilson's
 * interval begins too high. */
const FEW = [0.0513, 0.3554, 0.8177] as const;

/** What the sum over the computed chunks of a stratum varies by, for calls that differ by 1 within sequences, and between them. */
function chunkVariance({ sequences, frames, framesDone }: Stratum): { within: number; between: number } {
  const p = framesDone / frames;
  let within = 0;
  let between = 0;
  for (const [n, count] of sequences) {
    const whole = Math.floor(n * p);
    const rest = n * p - whole;
    const left = (m: number): number => (n === 1 ? 0 : (m * (n - m)) / (n - 1));
    within += count * ((1 - rest) * left(whole) + rest * left(whole + 1) + (rest * (1 - rest)) / n);
    between += count * rest * (1 - rest);
  }
  return { within, between };
}

/** Strata of one class join until each may be expected to have chunks at the share p; so do whole classes that are too small. */
function joined(strata: readonly Stratum[], p: number): Stratum[] {
  const all: Stratum[] = [];
  let own: Stratum[] = [];
  for (const [size] of SIZE_CLASSES.entries()) {
    own.push(...strata.filter((stratum) => stratum.sizeClass === size));
    if (sum(own, (stratum) => expectedChunks(stratum, p)) < SURELY_MET) continue;
    all.push(...joinedInOrder(own, p));
    own = [];
  }
  const last = all.pop();
  return [...all, ...(last ? [join([last, ...own])] : [join(own)])];
}

function joinedInOrder(strata: readonly Stratum[], p: number): Stratum[] {
  const all: Stratum[] = [];
  let rest: Stratum[] = [];
  for (const stratum of strata) {
    rest.push(stratum);
    if (sum(rest, (one) => expectedChunks(one, p)) < SURELY_MET) continue;
    all.push(join(rest));
    rest = [];
  }
  const last = all.pop();
  return last ? [...all, join([last, ...rest])] : [join(rest)];
}

function join(strata: readonly Stratum[]): Stratum {
  const whole = emptyStratum(strata[0]?.sizeClass ?? 0);
  for (const stratum of strata) {
    for (const [chunks, count] of stratum.sequences)
      whole.sequences.set(chunks, (whole.sequences.get(chunks) ?? 0) + count);
    whole.frames += stratum.frames;
    whole.framesDone += stratum.framesDone;
    whole.scored += stratum.scored;
    whole.viral += stratum.viral;
    whole.squares += stratum.squares;
    whole.freedom += stratum.freedom;
  }
  return whole;
}

function expectedChunks({ sequences }: Stratum, p: number): number {
  let chunks = 0;
  for (const [n, count] of sequences) chunks += n * count;
  return chunks * p;
}

/** Wilson's interval for a share over so many independent calls. */
function wilson(share: number, calls: number): ShareEstimate {
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * calls)) / (1 + z2 / calls);
  const half = (Z / (1 + z2 / calls)) * Math.sqrt((share * (1 - share)) / calls + z2 / (4 * calls * calls));
  const few = (count: number): number => (count < 0.5 ? 1 : (FEW[Math.round(count) - 1] ?? calls) / calls);
  return {
    share,
    low: Math.max(0, Math.min(share, middle - half, few(share * calls))),
    high: Math.min(1, Math.max(share, middle + half, 1 - few((1 - share) * calls))),
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
