import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAMES_IN_MASK, frameName, indexOfLargest, isVirusCall, isVirusFrame } from './chunkCall.ts';
import { SequenceTally, type ChunkScores } from './sequenceTally.ts';

function chunk(
  number: number,
  frames: number,
  score2: number[],
  reason: ChunkScores['reason'] = null,
): ChunkScores {
  const pairs = Float32Array.from(score2.flatMap((score) => [1 - score, score]));
  return { chunk: number, frames, unscored: reason === null ? 0 : frames, pairs, reason };
}

function summaryOf(chunks: ChunkScores[], fault: ChunkScores['reason'] = null) {
  const tally = new SequenceTally();
  for (const one of chunks) tally.add(one);
  return tally.summary(fault);
}

const score = fc.float({ min: 0, max: 1, noNaN: true });
/** Chunks with random frames and scores, some of them failed. */
const chunks = fc
  .array(
    fc.record({
      frames: fc.integer({ min: 1, max: 63 }),
      scores: fc.array(fc.tuple(score, score), { minLength: 6, maxLength: 6 }),
      reason: fc.option(fc.constantFrom('worker_failure', 'out_of_memory', 'non_finite'), { freq: 8 }),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map(({ frames, scores, reason }, i): ChunkScores => {
      const count = reason === null ? FRAMES_IN_MASK[frames]!.length : 0;
      const pairs = Float32Array.from(scores.slice(0, count).flat());
      return { chunk: 2 * i, frames, unscored: reason === null ? 0 : frames, pairs, reason };
    }),
  );

describe('calls', () => {
  it('calls a tied frame others and a tied chunk virus', () => {
    expect(isVirusFrame(0.5, 0.5)).toBe(false);
    expect(isVirusCall(Float32Array.of(0.5, 0.5))).toBe(true);
    expect(isVirusFrame(0.4, 0.6)).toBe(true);
  });

  it('compares the largest scores of a chunk, whichever frames they come from', () => {
    // F1 says others at 0.9, F2 says virus at 0.8.
    expect(isVirusCall(Float32Array.of(0.9, 0.1, 0.2, 0.8))).toBe(false);
    expect(isVirusCall(Float32Array.of(0.8, 0.2, 0.2, 0.8))).toBe(true);
  });
});

it('names frames, the first of equal ones', () => {
  expect(indexOfLargest(Float32Array.of(0.9, 0.3, 0.1, 0.8, 0.2, 0.8), 1)).toBe(1);
  expect(indexOfLargest(Float32Array.of(0.9, 0.3, 0.1, 0.8, 0.9, 0.8), 0)).toBe(0);
  expect([0, 1, 2, 3, 4, 5].map(frameName)).toEqual(['F1', 'F2', 'F3', 'R1', 'R2', 'R3']);
});

describe('summary of a sequence', () => {
  it('is what one works out by hand', () => {
    const summary = summaryOf([
      chunk(0, 0b000011, [0.25, 0.75]), // F1, F2: largest score2 0.75 = largest score1 0.75: virus
      chunk(2, 0b100000, [0.75]), // R3: virus, but not better than the first
      chunk(3, 0b001000, [0.125]), // R1: others
    ]);
    expect(summary).toEqual({
      prediction: 'virus',
      reason: 'ok',
      virusScore: Math.fround((0.75 + 0.75 + 0.125) / 3),
      nChunksScored: 3,
      nChunksViral: 2,
      nFrames: 4,
      nFramesScored: 4,
      bestChunk: 0,
      bestFrame: 1,
      bestScore: 0.75,
      secondScore: 0.75,
    });
  });

  it('is virus when exactly half of the scored chunks are', () => {
    expect(summaryOf([chunk(0, 1, [0.9]), chunk(1, 1, [0.1])]).prediction).toBe('virus');
    expect(summaryOf([chunk(0, 1, [0.9]), chunk(1, 1, [0.1]), chunk(2, 1, [0.1])]).prediction).toBe('others');
  });

  it('fails with the first failed chunk, its scored chunks counted all the same', () => {
    const failed = summaryOf([
      chunk(0, 1, [0.9]),
      chunk(1, 3, [], 'out_of_memory'),
      chunk(2, 1, [], 'worker_failure'),
    ]);
    expect(failed).toMatchObject({
      prediction: 'failed',
      reason: 'out_of_memory',
      nChunksScored: 1,
      nFrames: 4,
    });
    expect(failed.virusScore).toBe(Math.fround(0.9));
  });

  it('keeps the scores of frames in a chunk whose other frame failed, without a call', () => {
    const half: ChunkScores = {
      chunk: 0,
      frames: 0b11,
      unscored: 0b01,
      pairs: Float32Array.of(0.1, 0.9),
      reason: 'non_finite',
    };
    expect(summaryOf([half])).toMatchObject({
      prediction: 'failed',
      nChunksScored: 0,
      nFramesScored: 1,
      nFrames: 2,
    });
  });

  it('has no score without open frames, or with a fault in the input', () => {
    expect(summaryOf([])).toMatchObject({
      prediction: 'not_scored',
      reason: 'no_open_frame',
      virusScore: null,
    });
    expect(summaryOf([], 'empty')).toMatchObject({ prediction: 'not_scored', reason: 'empty' });
  });

  it('adds up, whatever the chunks', () => {
    fc.assert(
      fc.property(chunks, (list) => {
        const summary = summaryOf(list);
        const scored = list.filter(({ reason }) => reason === null);
        expect(summary.nChunksScored).toBe(scored.length);
        expect(summary.nChunksViral).toBe(scored.filter(({ pairs }) => isVirusCall(pairs)).length);
        expect(summary.nFramesScored).toBe(scored.reduce((sum, { pairs }) => sum + pairs.length / 2, 0));
        const best = scored.map(({ pairs }) => Math.max(...pairs.filter((_, i) => i % 2 === 1)));
        expect(summary.virusScore).toBe(
          scored.length === 0
            ? null
            : Math.fround(best.reduce((sum, value) => sum + value, 0) / scored.length),
        );
        expect(summary.bestChunk).toBe(scored[best.indexOf(Math.max(...best))]?.chunk ?? null);
        const [first = null, second = null] = best.toSorted((a, b) => b - a);
        expect([summary.bestScore, summary.secondScore]).toEqual([first, second]);
        const isFailed = list.some(({ reason }) => reason !== null);
        expect(summary.prediction === 'failed').toBe(isFailed);
        expect(summary.reason === 'ok').toBe(!isFailed && scored.length > 0);
        if (summary.prediction === 'virus')
          expect(2 * summary.nChunksViral).toBeGreaterThanOrEqual(scored.length);
        if (summary.prediction === 'others') expect(2 * summary.nChunksViral).toBeLessThan(scored.length);
      }),
    );
  });
});
