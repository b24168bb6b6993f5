import type { ExpectedWork, RunSummary } from '../../../contract/rpc/runs.ts';
import type { SecondsRange } from '../questions/runSpeeds.ts';

/** What is left of a run to compute; null where it can't be said how far it is, as its files were not read to their end. */
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

/** What is known of the queue at a moment. */
interface QueueOutlook {
  /** Runs in the order in which they will start. */
  waiting: readonly string[];
  /** Nothing starts by itself. */
  held: boolean;
  /** What the run at work still takes; undefined where none is at work, null where it can't be said. */
  remaining: SecondsRange | null | undefined;
  /** What a waiting run will take, as far as that is known. */
  duration: (runId: string) => SecondsRange | null;
}

/** Seconds until each waiting run is expected to start; runs of which that can't be said are left out. */
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
