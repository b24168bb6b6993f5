import type { PrepareProgress } from '../../../contract/protocol/index.ts';
import type { RunProgress } from '../../../contract/rpc/runs.ts';
import type { InputProgress, RunCounts, StoredRun } from '../../store/types.ts';
import type { WorkElsewhere } from '../shares/shareStatus.ts';
import { unusualNorms } from './remarks.ts';

/** Progress of the current work that the database does not have yet. */
export interface WorkUnderWay {
  /** Null unless prepare is running. */
  prepare: PrepareProgress | null;
  prepareFinished: boolean;
  /** Residues of the current parts of this computer that are computed but not yet stored. */
  residuesInWork: number;
  partsInWork: number;
  elsewhere: WorkElsewhere | undefined;
  residuesPerSecond: number | null;
  speeds: Speeds | null;
}

export interface Speeds {
  /** Residues per second over the last minute. */
  now: number;
  /** The same since the first residues of this work session, and how long ago that was. */
  overall: number;
  seconds: number;
  /** Ratio of devices computing or starting to those computing: how many times faster the run may soon be. */
  growth: number;
}

/**
 * Progress of a run, measured by work and not by files; without `atWork`, for a run that is not computed
 * here.
 */
export function runProgress(
  run: StoredRun,
  counts: RunCounts,
  inputs: readonly InputProgress[],
  elapsedSeconds: number,
  atWork?: WorkUnderWay,
): RunProgress {
  const { residues, frames, parts } = counts;
  const prepareFinished = atWork?.prepareFinished ?? run.prepared !== null;
  const sizes = run.plan.inputs.map(({ sizeBytes }) => sizeBytes);
  const bytesTotal = sum(sizes);
  const prepare = atWork?.prepare ?? null;
  const bytesRead = prepareFinished
    ? bytesTotal
    : sum(sizes.slice(0, prepare?.input ?? 0)) + (prepare?.bytes_read ?? 0);
  const elsewhere = atWork?.elsewhere ?? { parts: 0, frames: 0, residues: 0 };
  const residuesInWork = (atWork?.residuesInWork ?? 0) + elsewhere.residues;
  const work: WorkKnown = {
    residuesDone: Math.min(residues.total, residues.done + residues.failed + residuesInWork),
    residuesFound: residues.total,
    framesFound: frames.total,
    readFraction: bytesTotal === 0 ? 1 : Math.min(1, bytesRead / bytesTotal),
    prepareFinished,
  };
  return {
    prepare: {
      finished: prepareFinished,
      records: run.prepared?.records ?? prepare?.records ?? counts.records,
      bases: prepare?.bases ?? sum(run.inputs.map(({ prepared }) => prepared?.bases ?? 0)),
      frames: frames.total,
    },
    parts: {
      total: parts.pending + parts.assigned + parts.done + parts.failed + parts.skipped,
      done: parts.done + elsewhere.parts,
      failed: parts.failed,
      inWork: atWork?.partsInWork ?? parts.assigned,
    },
    frames: { total: frames.total, done: frames.done + elsewhere.frames },
    residues: { total: residues.total, done: work.residuesDone },
    inputs: {
      total: run.plan.inputs.length,
      done: inputs.filter((input) => input.finished).length,
      failed: inputs.filter((input) => input.partsFailed > 0).length,
    },
    fraction: run.state.phase === 'done' ? 1 : workFraction(work),
    elapsedSeconds,
    remainingSeconds: remainingSeconds(work, atWork?.speeds ?? null),
    residuesPerSecond: atWork?.residuesPerSecond ?? null,
    unusualNorms: unusualNorms(run.plan, counts),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

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

/** Estimates all residues from those found in the part of the input read so far. */
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
 * Once the amount of work and the speed are well known, the remaining time may be off by this much either way
 * ...
 */
const KNOWN_WELL = 0.1;
/** ... by this much more while hardly any input was read ... */
const UNREAD = 0.4;
/** ... and by this much more at the start, half of it after HALF_MEASURED_SECONDS of computing. */
const UNMEASURED = 0.8;
const HALF_MEASURED_SECONDS = 30;
/**
 * Time for the steps after the last residues, which do not depend on the computing speed: storing the last
 * scores, and writing and summing the tables. They take 0.3 to 0.7 s of a short run on a quiet computer and
 * up to 2.2 s on a busy one, and 3.1 to 6.9 s per million frames (docs/performance.md).
 */
const ENDING_SECONDS = 2;
const ENDING_SECONDS_A_FRAME = { low: 3e-6, high: 8e-6 };

/**
 * Remaining time as a range: from the faster to the slower of the two speeds, and wider the less is known.
 * Devices that are still starting can only make it shorter.
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
