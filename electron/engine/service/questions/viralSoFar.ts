import type { ViralShares } from '../../../contract/rpc/runs.ts';
import { detailsOf, samplesOf } from '../../exports/samples.ts';
import { sharesSoFar } from '../../results/estimates/shareSoFar.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

/** The viral share of a run and of its samples, as far as it is known. */
export async function viralShares(store: Pick<RunStore, 'viralSoFar' | 'loadRun'>): Promise<ViralShares> {
  const [known, run] = await Promise.all([store.viralSoFar(), store.loadRun()]);
  return sharesSoFar(known, samplesOf(run), detailsOf(run));
}

/**
 * Counting must not take more than this share of the time. A count that takes long is the first, which reads
 * every sequence and chunk; the next reads only what is new, and need not wait for long.
 */
const SHARE = 0.05;
const LONGEST_WAIT_MS = 10_000;

/** The viral shares of runs, which are counted again only from time to time while they grow. */
export class ViralSoFar {
  private readonly known = new Map<string, { answer: Promise<ViralShares>; until: number }>();

  of(
    runId: string,
    read: (ask: (store: RunStore) => Promise<ViralShares>) => Promise<ViralShares>,
  ): Promise<ViralShares> {
    const known = this.known.get(runId);
    if (known && performance.now() < known.until) return known.answer;
    const begun = performance.now();
    const entry = { answer: read(viralShares), until: Number.POSITIVE_INFINITY };
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
