export interface WorkKnown {
  residuesDone: number;
  /** Residues found so far; the final number once prepare is finished. */
  residuesFound: number;
  framesFound: number;
  /** Share of the input that prepare has read. */
  readFraction: number;
  prepareFinished: boolean;
}

const WARM_UP_FRACTION = 0.01;

/** All residues there will be, from those found in the part of the input read so far. */
function estimateResidues(work: WorkKnown): number | null {
  if (work.prepareFinished) return work.residuesFound;
  return work.readFraction > WARM_UP_FRACTION ? work.residuesFound / work.readFraction : null;
}

export function workFraction(work: WorkKnown): number | null {
  const total = estimateResidues(work);
  if (total === null) return null;
  if (total === 0) return work.prepareFinished ? 1 : null;
  return Math.min(1, work.residuesDone / total);
}

export interface Speeds {
  /** Residues per second over the last minute. */
  now: number;
  /** The same since the first ones of this session of work, and how long that is. */
  overall: number;
  seconds: number;
  /** Ratio of devices computing or starting to those computing: how many times faster the run may soon be. */
  growth: number;
}

/** Once the amount of work and the speed are known well, the time left is off by this much either way ... */
const KNOWN_WELL = 0.1;
/** ... by this much more while hardly anything of the input was read ... */
const UNREAD = 0.4;
/** ... and by this much more at the start, half of it after HALF_MEASURED_SECONDS of computing. */
const UNMEASURED = 0.8;
const HALF_MEASURED_SECONDS = 30;
/**
 * What comes after the last residues, which no speed tells of: the last scores are stored, and the tables written and summed. That
 * takes 0.3 to 0.7 s of a short run on a quiet computer and up to 2.2 s on a busy one, and 3.1 to 6.9 s a million frames
 * (docs/performance.md).
 */
const ENDING_SECONDS = 2;
const ENDING_SECONDS_A_FRAME = { low: 3e-6, high: 8e-6 };

/**
 * Time left as a range: from the faster to the slower of the two speeds, and wider the less is known. Devices that are still being
 * started can only make it shorter.
 */
export function remainingSeconds(
  work: WorkKnown,
  speeds: Speeds | null,
): { low: number; high: number } | null {
  const total = estimateResidues(work);
  if (total === null || !speeds || speeds.now <= 0 || speeds.overall <= 0) return null;
  const left = Math.max(0, total - work.residuesDone);
  const unread = work.prepareFinished ? 0 : UNREAD * (1 - work.readFraction);
  const unmeasured = (UNMEASURED * HALF_MEASURED_SECONDS) / (HALF_MEASURED_SECONDS + speeds.seconds);
  const doubt = 1 + KNOWN_WELL + unread + unmeasured;
  return {
    low:
      left / (Math.max(speeds.now, speeds.overall) * speeds.growth) / doubt +
      ENDING_SECONDS_A_FRAME.low * work.framesFound,
    high:
      (left / Math.min(speeds.now, speeds.overall)) * doubt +
      ENDING_SECONDS +
      ENDING_SECONDS_A_FRAME.high * work.framesFound,
  };
}
