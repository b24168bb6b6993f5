/** The measured speed of one device in one run, or of the run as a whole. */
export interface MeasuredWork {
  frames: number;
  residues: number;
  /** Seconds in which the device computed. */
  seconds: number;
  measuredAt: number;
}

export interface SecondsRange {
  low: number;
  high: number;
}

export interface WorkAhead {
  frames: number;
  residues: number;
}

/**
 * The cost of a reading frame besides its residues, in residues: the marks at its ends, its pooling and its
 * row of scores.
 * Fitted to runs of 40-base reads and of long contigs on the same processor.
 */
const RESIDUES_OF_A_FRAME = 10;
/**
 * Uncertainties, as natural logarithms of a factor either way. Other programs and heat change a device's
 * speed by this much ...
 */
const UNSTEADY = 0.3;
/** ... a single measurement is off by this much, several by less ... */
const OF_ONE_MEASUREMENT = 0.35;
/** ... a run of less than this many seconds shows the speed of warming up ... */
const SETTLED_SECONDS = 20;
/** ... below one second more so, the shorter it was ... */
const unsettled = (seconds: number): number =>
  OF_ONE_MEASUREMENT * (Math.exp(-seconds / SETTLED_SECONDS) + Math.max(0, -Math.log(seconds)));
/** ... and the speed for frames e times as long or short as any measured ones may differ by this much. */
const PER_LENGTH_RATIO = 0.3;

const workOf = ({ frames, residues }: WorkAhead): number => residues + frames * RESIDUES_OF_A_FRAME;

/**
 * Seconds that work takes on devices together, from what earlier runs showed of each: measurements of frames
 * of about the same length count most. The range is wider the less is known. Null if nothing is known about
 * one of them.
 */
export function secondsFor(
  work: WorkAhead,
  devices: readonly (readonly MeasuredWork[])[],
): SecondsRange | null {
  let rate = 0;
  let doubt = 0;
  for (const measured of devices) {
    if (measured.length === 0) return null;
    const speed = speedFor(work, measured);
    rate += speed.rate;
    doubt = Math.max(doubt, speed.doubt);
  }
  if (rate === 0) return null;
  const seconds = workOf(work) / rate;
  return { low: seconds / Math.exp(doubt), high: seconds * Math.exp(doubt) };
}

function speedFor(work: WorkAhead, measured: readonly MeasuredWork[]): { rate: number; doubt: number } {
  const length = meanLength(work);
  const known = measured.map((one) => {
    const distance = Math.abs(Math.log(length / meanLength(one)));
    return {
      logRate: Math.log(workOf(one) / one.seconds),
      distance,
      unsettled: unsettled(one.seconds),
      weight: (one.seconds / (one.seconds + SETTLED_SECONDS)) * Math.exp(-2 * distance),
    };
  });
  const weights = known.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (value: (one: (typeof known)[number]) => number): number =>
    known.reduce((sum, one) => sum + one.weight * value(one), 0) / weights;
  const logRate = mean((one) => one.logRate);
  const spread = Math.sqrt(mean((one) => (one.logRate - logRate) ** 2));
  const nearest = Math.min(...known.map(({ distance }) => distance));
  const doubts = [
    UNSTEADY,
    OF_ONE_MEASUREMENT / Math.sqrt(known.length),
    spread,
    mean((one) => one.unsettled),
    PER_LENGTH_RATIO * nearest,
  ];
  return { rate: Math.exp(logRate), doubt: Math.hypot(...doubts) };
}

const meanLength = ({ frames, residues }: WorkAhead): number => Math.max(1, residues) / Math.max(1, frames);
