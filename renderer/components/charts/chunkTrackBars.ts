import type { ChunkResult } from '../../../electron/contract/index.ts';

export interface TrackBar {
  /** 1-based and inclusive. */
  readonly start: number;
  readonly end: number;
  readonly score: number | null;
  readonly isVirus: boolean | null;
}

/**
 * One bar per chunk, or per group of neighbouring chunks where there are more than fit; a group shows its best chunk. Chunks may
 * overlap by some bases: a bar ends where the next begins, so that none hides another.
 */
export function trackBars(
  chunks: readonly Pick<ChunkResult, 'start' | 'end' | 'score2' | 'isVirus'>[],
  length: number,
  mostBars: number,
): TrackBar[] {
  const perBar = Math.max(1, Math.ceil(chunks.length / mostBars));
  const bars: TrackBar[] = [];
  for (let begin = 0; begin < chunks.length; begin += perBar) {
    const group = chunks.slice(begin, begin + perBar);
    const firstOfGroup = group[0];
    if (!firstOfGroup) break;
    const best = group.reduce((a, b) => ((b.score2 ?? -1) > (a.score2 ?? -1) ? b : a));
    const next = chunks[begin + perBar];
    bars.push({
      start: firstOfGroup.start,
      end: next ? next.start - 1 : Math.max(group.at(-1)?.end ?? length, firstOfGroup.start),
      score: best.score2,
      isVirus: best.isVirus,
    });
  }
  return bars;
}
