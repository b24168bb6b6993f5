import type { ChunkResult } from '../../../electron/contract/index.ts';

type Scored = Pick<ChunkResult, 'start' | 'end' | 'score2'>;

export interface TrackBar<Chunk extends Scored> {
  /** 1-based and inclusive. */
  readonly start: number;
  readonly end: number;
  /** The one that it shows. */
  readonly best: Chunk;
}

/**
 * One bar per chunk, or per group of neighbouring chunks where there are more than fit; a group shows its best chunk. Chunks may
 * overlap by some bases: a bar ends where the next begins, so that none hides another.
 */
export function trackBars<Chunk extends Scored>(
  chunks: readonly Chunk[],
  length: number,
  mostBars: number,
): TrackBar<Chunk>[] {
  const perBar = Math.max(1, Math.ceil(chunks.length / mostBars));
  const bars: TrackBar<Chunk>[] = [];
  for (let begin = 0; begin < chunks.length; begin += perBar) {
    const group = chunks.slice(begin, begin + perBar);
    const firstOfGroup = group[0];
    if (!firstOfGroup) break;
    const best = group.reduce((a, b) => ((b.score2 ?? -1) > (a.score2 ?? -1) ? b : a));
    const next = chunks[begin + perBar];
    bars.push({
      start: firstOfGroup.start,
      end: next ? next.start - 1 : Math.max(group.at(-1)?.end ?? length, firstOfGroup.start),
      best,
    });
  }
  return bars;
}
