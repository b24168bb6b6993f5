import type { PrepareProgress } from '../../../contract/protocol/index.ts';
import type { RunProgress } from '../../../contract/rpc/runs.ts';
import type { InputProgress, RunCounts, StoredRun } from '../../store/types.ts';
import { remainingSeconds, workFraction, type Speeds } from './remainingTime.ts';
import { unusualNorms } from './unusualNorms.ts';

interface ProgressFacts {
  run: StoredRun;
  counts: RunCounts;
  inputs: readonly InputProgress[];
  /** Null unless prepare is at work. */
  prepare: PrepareProgress | null;
  prepareFinished: boolean;
  /** Residues of the current parts that are computed but not yet stored. */
  residuesInWork: number;
  partsInWork: number;
  /** Computed by shares that are not taken over yet. */
  partsDoneElsewhere: number;
  elapsedSeconds: number;
  residuesPerSecond: number | null;
  speeds: Speeds | null;
}

/** Overall progress, counted by work and not by files. */
export function runProgress(facts: ProgressFacts): RunProgress {
  const { run, counts, inputs, prepare, prepareFinished } = facts;
  const bytesTotal = run.plan.inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  const bytesRead = prepareFinished ? bytesTotal : bytesBefore(run, prepare) + (prepare?.bytes_read ?? 0);
  const { residues, frames, parts } = counts;
  const residuesDone = Math.min(residues.total, residues.done + residues.failed + facts.residuesInWork);
  const work = {
    residuesDone,
    residuesFound: residues.total,
    framesFound: frames.total,
    readFraction: bytesTotal === 0 ? 1 : Math.min(1, bytesRead / bytesTotal),
    prepareFinished,
  };
  return {
    prepare: {
      finished: prepareFinished,
      bytesRead,
      bytesTotal,
      records: run.prepared?.records ?? prepare?.records ?? counts.records,
      bases: prepare?.bases ?? run.inputs.reduce((sum, input) => sum + (input.prepared?.bases ?? 0), 0),
      frames: frames.total,
    },
    parts: {
      total: parts.pending + parts.assigned + parts.done + parts.failed + parts.skipped,
      done: parts.done + facts.partsDoneElsewhere,
      failed: parts.failed,
      inWork: facts.partsInWork,
    },
    frames: { total: frames.total, done: frames.done },
    residues: { total: residues.total, done: residuesDone },
    inputs: {
      total: run.plan.inputs.length,
      done: inputs.filter((input) => input.finished).length,
      failed: inputs.filter((input) => input.partsFailed > 0).length,
    },
    fraction: workFraction(work),
    elapsedSeconds: facts.elapsedSeconds,
    remainingSeconds: remainingSeconds(work, facts.speeds),
    residuesPerSecond: facts.residuesPerSecond,
    unusualNorms: unusualNorms(run.plan, counts),
  };
}

function bytesBefore(run: StoredRun, prepare: PrepareProgress | null): number {
  return run.plan.inputs.slice(0, prepare?.input ?? 0).reduce((sum, input) => sum + input.sizeBytes, 0);
}
