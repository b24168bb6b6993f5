import type { RunStore } from '../../store/runStoreFace.ts';

interface SoFar {
  viral: number;
  scored: number;
}

/** The first count of a run that was opened looks at every chunk: counting must not take more than this share of the time. */
const SHARE = 0.05;

/** Sequences called virus among those scored so far, counted again only now and then while a run grows. */
export class ViralSoFar {
  private readonly known = new Map<string, { answer: Promise<SoFar>; until: number }>();

  of(runId: string, read: (ask: (store: RunStore) => Promise<SoFar>) => Promise<SoFar>): Promise<SoFar> {
    const known = this.known.get(runId);
    if (known && performance.now() < known.until) return known.answer;
    const begun = performance.now();
    const entry = { answer: read((store) => store.viralSoFar()), until: Number.POSITIVE_INFINITY };
    this.known.set(runId, entry);
    void entry.answer
      .catch(() => undefined)
      .finally(() => {
        const now = performance.now();
        entry.until = now + (now - begun) / SHARE;
      });
    return entry.answer;
  }
}
