import type { ExpectedWork, RunSummary } from '../../../contract/rpc/runs.ts';
import type { SecondsRange } from '../questions/runSpeeds.ts';

/**
 * The remaining work of a run; null if its progress is unknown, because its files were not read completely.
 */
export function workLeft({
  expected,
  state,
  fraction,
}: Pick<RunSummary, 'expected' | 'state' | 'fraction'>): ExpectedWork | null {
  const done = state.phase === 'created' ? 0 : fraction;
  if (!expected || done === null) return null;
  const left = (amount: number): number => Math.round(amount * (1 - done));
  return { ...expected, frames: left(expected.frames), residues: left(expected.residues) };
}

/** The state of the queue at a moment. */
interface QueueOutlook {
  /** Runs in the order in which they will start. */
  waiting: readonly string[];
  /** Whether nothing starts by itself. */
  held: boolean;
  /** The remaining time of the running run; undefined if none is running, null if unknown. */
  remaining: SecondsRange | null | undefined;
  /** The duration of a waiting run, if known. */
  duration: (runId: string) => SecondsRange | null;
}

/** Seconds until each waiting run is expected to start; runs without an estimate are left out. */
export function expectedStarts(queue: QueueOutlook): Map<string, SecondsRange> {
  const starts = new Map<string, SecondsRange>();
  if (queue.held) return starts;
  let until: SecondsRange | null = queue.remaining === undefined ? { low: 0, high: 0 } : queue.remaining;
  for (const runId of queue.waiting) {
    if (until === null) break;
    starts.set(runId, until);
    const duration = queue.duration(runId);
    until = duration && { low: until.low + duration.low, high: until.high + duration.high };
  }
  return starts;
}
