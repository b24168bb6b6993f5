import type { ExpectedShares } from '../../../contract/rpc/runs.ts';
import { expectedShares } from '../../exports/samples.ts';
import type { RunStore } from '../../store/runStore.ts';

/**
 * Counting must not take more than this share of the time. A count that takes long is the first, which reads
 * every sequence and chunk; the next reads only what is new, and need not wait for long.
 */
const SHARE = 0.05;
const LONGEST_WAIT_MS = 10_000;

/** The expected shares of runs, which are counted again only from time to time. */
export class ExpectedSharesOfRuns {
  private readonly known = new Map<string, { answer: Promise<ExpectedShares | null>; until: number }>();

  of(
    runId: string,
    read: (ask: (store: RunStore) => Promise<ExpectedShares | null>) => Promise<ExpectedShares | null>,
  ): Promise<ExpectedShares | null> {
    const known = this.known.get(runId);
    if (known && performance.now() < known.until) return known.answer;
    const begun = performance.now();
    const entry = { answer: read(expectedShares), until: Number.POSITIVE_INFINITY };
    this.known.set(runId, entry);
    void entry.answer
      .catch(() => undefined)
      .finally(() => {
        const now = performance.now();
        entry.until = now + Math.min((now - begun) / SHARE, LONGEST_WAIT_MS);
      });
    return entry.answer;
  }
}
