export interface WorkKnown {
  residuesDone: number;
  /** Residues found so far; the final number once prepare is finished. */
  residuesFound: number;
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

/**
 * Time left as a range: a tenth either way once the amount of work is known, and wider the less of the input was read.
 */
export function remainingSeconds(
  work: WorkKnown,
  residuesPerSecond: number | null,
): { low: number; high: number } | null {
  const total = estimateResidues(work);
  if (total === null || !residuesPerSecond) return null;
  const seconds = Math.max(0, total - work.residuesDone) / residuesPerSecond;
  const doubt = work.prepareFinished ? 0.1 : 0.1 + 0.4 * (1 - work.readFraction);
  return { low: seconds * (1 - doubt), high: seconds * (1 + doubt) };
}
