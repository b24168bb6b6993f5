import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evidenceOf } from './sequenceRemarks.ts';
import {
  callChunk,
  frameBounds,
  frameName,
  framesIn,
  isVirusFrame,
  chunkBounds,
  chunkCount,
  SequenceTally,
  type ChunkScores,
} from './sequenceTally.ts';

const CHUNK = 500;

function chunk(
  number: number,
  frames: number,
  score2: number[],
  reason: ChunkScores['reason'] = null,
): ChunkScores {
  const pairs = Float32Array.from(score2.flatMap((score) => [1 - score, score]));
  return { chunk: number, frames, unscored: reason === null ? 0 : frames, pairs, reason };
}

function summaryOf(chunks: ChunkScores[], fault: ChunkScores['reason'] = null, length = 4 * CHUNK) {
  const tally = new SequenceTally(length, { chunkLength: CHUNK });
  for (const one of chunks) tally.add(one);
  return tally.summary(fault);
}

/** Scores of a head: pairs that add up to 1, pairs moved by rounding, equal ones, and any others. */
const anyScore = fc.float({ min: 0, max: 1, noNaN: true });
const nearHalf = fc
  .integer({ min: -4, max: 4 })
  .map((steps) => Math.fround(0.5 + steps * (steps < 0 ? 2 ** -25 : 2 ** -24)));
const pair = fc.oneof(
  anyScore.map((score2): [number, number] => [Math.fround(1 - score2), score2]),
  fc.tuple(nearHalf, nearHalf),
  fc.constantFrom<[number, number]>([0.5, 0.5], [1, 0], [0, 1], [1, 1], [0, 0], [1, 2 ** -149]),
  fc.tuple(anyScore, anyScore),
);
const pairs = fc
  .array(pair, { minLength: 1, maxLength: 6 })
  .map((frames) => Float32Array.from(frames.flat()));

describe('the call of a chunk', () => {
  it('is others for a tied frame and virus for a tied chunk', () => {
    expect(isVirusFrame(0.5, 0.5)).toBe(false);
    expect(callChunk(Float32Array.of(0.5, 0.5))).toMatchObject({ isVirus: true, virusScore: 0.5 });
    expect(isVirusFrame(0.4, 0.6)).toBe(true);
  });

  it('names the first of equal frames', () => {
    expect(callChunk(Float32Array.of(0.9, 0.3, 0.1, 0.95, 0.2, 0.95)).deciding).toBe(1);
    expect(callChunk(Float32Array.of(0.2, 0.3, 0.9, 0.1, 0.9, 0.1)).deciding).toBe(1);
    expect([0, 1, 2, 3, 4, 5].map(frameName)).toEqual(['F1', 'F2', 'F3', 'R1', 'R2', 'R3']);
  });

  it('is the original’s, and its float32 score is on the matching side of 0.5, whatever the scores', () => {
    fc.assert(
      fc.property(pairs, (scores) => {
        const { isVirus, virusScore, deciding, score1, score2 } = callChunk(scores);
        const of = (which: number) => Math.max(...scores.filter((_, i) => i % 2 === which));
        expect([score1, score2]).toEqual([of(0), of(1)]);
        expect(isVirus).toBe(of(1) >= of(0));
        expect(virusScore >= 0.5).toBe(isVirus);
        expect(Math.fround(virusScore)).toBe(virusScore);
        expect(virusScore >= 0 && virusScore <= 1).toBe(true);
        // Exactly the number of a frame with the largest score, unless it is on the other side.
        expect(scores[2 * deciding + (isVirus ? 1 : 0)]).toBe(isVirus ? score2 : score1);
        const plain = scores[2 * deciding + 1]!;
        if (plain >= 0.5 === isVirus) expect(virusScore).toBe(plain);
      }),
      { numRuns: 5000 },
    );
  });
});

/** P(virus) of the frames of a sequence's chunks. Eighths are often as sure of opposite calls. */
const virusScores = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: 0, max: 8 }).map((eighths) => eighths / 8),
);
const frameScores = fc.array(fc.array(virusScores, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 6,
});
/** Chunks overlap, and so have different weights. */
const lengthOf = (scores: number[][]) => scores.length * CHUNK - 70 * (scores.length - 1);
const ofFrames = (scores: number[][]) =>
  summaryOf(
    scores.map((frames, k) => chunk(k, 2 ** frames.length - 1, frames)),
    null,
    lengthOf(scores),
  );

describe('the margin of a call', () => {
  it('is the smallest m at which the call turns, found by trying', () => {
    fc.assert(
      fc.property(frameScores, (scores) => {
        const { margin, prediction } = ofFrames(scores);
        const isVirus = prediction === 'virus';
        const calls = scores.map((frames) => callChunk(chunk(0, 1, frames).pairs));
        const length = lengthOf(scores);
        const turns = (m: number): boolean => {
          let [sum, covered] = [0, 0];
          for (const [k, { isVirus: asCalled, virusScore, turnedScore, score1, score2 }] of calls.entries()) {
            const { end } = chunkBounds(length, CHUNK, k);
            const isTurned = asCalled === isVirus && Math.abs(score2 - score1) <= m;
            sum += (isTurned ? turnedScore : virusScore) * (end - covered);
            covered = end;
          }
          return isVirus ? sum / length - m / 2 < 0.5 : sum / length + m / 2 >= 0.5;
        };
        let [low, high] = [0, 2];
        for (let step = 0; step < 40; step++) {
          const middle = (low + high) / 2;
          if (turns(middle)) high = middle;
          else low = middle;
        }
        expect(margin).toBeCloseTo(high, 5);
      }),
      { numRuns: 2000 },
    );
  });

  it('is at most twice the rounding of the frames’ scores where that turns the call', () => {
    let turned = 0;
    fc.assert(
      fc.property(
        frameScores,
        fc.double({ min: 1e-4, max: 0.2, noNaN: true }),
        fc.infiniteStream(fc.constantFrom(-1, 1)),
        (scores, most, signs) => {
          const rounded = scores.map((frames) =>
            frames.map((score) => Math.min(1, Math.max(0, score + most * signs.next().value))),
          );
          const [exact, moved] = [ofFrames(scores), ofFrames(rounded)];
          if (exact.prediction === moved.prediction) return;
          turned++;
          for (const { margin } of [exact, moved]) expect(margin).toBeLessThanOrEqual(2 * most + 1e-6);
        },
      ),
      { numRuns: 5000 },
    );
    expect(turned).toBeGreaterThan(50);
  });
});

/** A sequence of any length with random chunks, some without an open frame, some failed. */
const sequences = fc
  .record({
    length: fc.oneof(fc.integer({ min: 1, max: 6 * CHUNK }), fc.constantFrom(500, 501, 749, 1000, 1001)),
    chunks: fc.array(
      fc.record({
        isOpen: fc.boolean(),
        frames: fc.integer({ min: 1, max: 63 }),
        pairs: fc.array(pair, { minLength: 6, maxLength: 6 }),
        reason: fc.option(fc.constantFrom('worker_failure', 'out_of_memory', 'non_finite'), { freq: 12 }),
      }),
      { minLength: 6, maxLength: 6 },
    ),
  })
  .map(({ length, chunks }) => ({
    length,
    chunks: chunks.slice(0, chunkCount(length, CHUNK)).flatMap(({ isOpen, frames, reason, ...one }, k) => {
      if (!isOpen) return [];
      const count = reason === null ? framesIn(frames).length : 0;
      const scores = Float32Array.from(one.pairs.slice(0, count).flat());
      return [{ chunk: k, frames, unscored: reason === null ? 0 : frames, pairs: scores, reason }];
    }) satisfies ChunkScores[],
  }));

describe('summary of a sequence', () => {
  it('equals a calculation by hand', () => {
    const summary = summaryOf([
      chunk(0, 0b000011, [0.25, 0.75]), // F1, F2: largest score2 0.75 = largest score1 0.75: virus
      chunk(2, 0b100000, [0.75]), // R3: virus, but not better than the first
      chunk(3, 0b001000, [0.125]), // R1: others
    ]);
    expect(summary).toEqual({
      prediction: 'virus',
      reason: 'ok',
      virusScore: Math.fround((0.75 + 0.75 + 0.125) / 3),
      margin: 0, // F1 and F2 are as sure of opposite calls.
      nChunksScored: 3,
      nChunksViral: 2,
      nBasesScored: 1500,
      nBasesViral: 1000,
      nFrames: 4,
      nFramesScored: 4,
      bestChunk: 0,
      bestFrame: 1,
      bestScore: 0.75,
      secondScore: 0.75,
      judgedBy: '500',
      along: '1v1u1v1n',
    });
  });

  it('counts of a chunk that a second look judged only the shorter chunks with an open frame, each base once', () => {
    // Two overlapping chunks, each cut into two of at most 300 bp.
    const cut = { chunkLength: CHUNK, secondLook: { chunkLength: 300 } };
    const length = 950;
    const [F1a, F1b] = [1 << 6, 1 << 12];
    const tallied = (...chunks: ChunkScores[]) => {
      const tally = new SequenceTally(length, cut);
      for (const one of chunks) tally.add(one);
      return tally.summary(null);
    };
    const [first, second] = [frameBounds(length, cut, 0, 'R2b'), frameBounds(length, cut, 1, 'F1a')];
    expect(first).toEqual({ start: 249, end: 500 });
    expect(second.start).toBeLessThan(first.end);
    const both = tallied(chunk(0, F1b, [0.75]), chunk(1, F1a, [0.25]));
    const [bases, more] = [first.end - first.start, second.end - first.end];
    expect(both).toMatchObject({
      nBasesScored: bases + more,
      nBasesViral: bases,
      along: '1v1n',
      judgedBy: '300',
    });
    expect(both.virusScore).toBe(Math.fround((0.75 * bases + 0.25 * more) / (bases + more)));
    expect(both.bestFrame).toBe(12);
    expect(tallied(chunk(0, F1a | F1b, [0.75, 0.5]), chunk(1, 1, [0.25]))).toMatchObject({
      nBasesScored: length,
      judgedBy: '500+300',
    });
    expect(tallied(chunk(1, 1, [0.25]))).toMatchObject({ along: '1u1n', judgedBy: '500' });
    expect(tallied()).toMatchObject({ along: '2u', judgedBy: null });
  });

  it('counts the bases of any chunks once, as a set of positions does', () => {
    const masks = fc.oneof(
      fc.integer({ min: 1, max: 63 }),
      fc.integer({ min: 1, max: 4095 }).map((mask) => mask << 6),
    );
    fc.assert(
      fc.property(
        fc
          .integer({ min: 20, max: 60 })
          .chain((c) => fc.tuple(fc.constant(c), fc.integer({ min: Math.ceil(c / 2), max: c - 1 }))),
        fc.array(fc.option(masks), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 19 }),
        ([chunkLength, second], chosen, less) => {
          const cut = { chunkLength, secondLook: { chunkLength: second } };
          const length = chosen.length * chunkLength - less;
          const tally = new SequenceTally(length, cut);
          const covered = new Set<number>();
          for (const [k, frames] of chosen.entries()) {
            if (frames === null) continue;
            tally.add(
              chunk(
                k,
                frames,
                framesIn(frames).map(() => 0.75),
              ),
            );
            for (const frame of framesIn(frames)) {
              const { start, end } = frameBounds(length, cut, k, frameName(frame));
              for (let base = start; base < end; base++) covered.add(base);
            }
          }
          expect(tally.summary(null).nBasesScored).toBe(covered.size);
        },
      ),
    );
  });

  it('fails with the first failed chunk, but still counts its scored chunks and frames', () => {
    const pairs = Float32Array.of(0.1, 0.9);
    expect(
      summaryOf([
        chunk(0, 1, [0.9]),
        // Only one of its two frames failed.
        { chunk: 1, frames: 0b11, unscored: 0b01, pairs, reason: 'out_of_memory' },
        chunk(2, 1, [], 'worker_failure'),
      ]),
    ).toMatchObject({
      ...{ prediction: 'failed', reason: 'out_of_memory', virusScore: Math.fround(0.9) },
      ...{ nChunksScored: 1, nFramesScored: 2, nFrames: 4 },
    });
  });

  it('has no score without open frames, or with an error in the input', () => {
    expect(summaryOf([])).toMatchObject({
      prediction: 'not_scored',
      reason: 'no_open_frame',
      virusScore: null,
    });
    expect(summaryOf([], 'empty')).toMatchObject({ prediction: 'not_scored', reason: 'empty' });
  });

  it('is consistent: counts add up, and call, score and evidence never contradict each other, whatever the chunks', () => {
    fc.assert(
      fc.property(sequences, ({ length, chunks }) => {
        const summary = summaryOf(chunks, null, length);
        const scored = chunks.filter(({ reason }) => reason === null);
        const calls = scored.map(({ pairs: scores }) => callChunk(scores));
        expect(summary.nChunksScored).toBe(scored.length);
        expect(summary.nChunksViral).toBe(calls.filter(({ isVirus }) => isVirus).length);
        expect(summary.nFramesScored).toBe(
          scored.reduce((sum, { pairs: scores }) => sum + scores.length / 2, 0),
        );

        // Counted base by base: each has the score of the first scored chunk that covers it.
        const scoreAt = new Map<number, (typeof calls)[number]>();
        for (const [i, { chunk: number }] of scored.entries()) {
          const { start, end } = chunkBounds(length, CHUNK, number);
          for (let base = start; base < end; base++) if (!scoreAt.has(base)) scoreAt.set(base, calls[i]!);
        }
        const ofBases = [...scoreAt.values()];
        expect(summary.nBasesScored).toBe(ofBases.length);
        expect(summary.nBasesViral).toBe(ofBases.filter(({ isVirus }) => isVirus).length);
        const { virusScore } = summary;
        if (virusScore === null) expect(scored).toEqual([]);
        else {
          const mean = ofBases.reduce((sum, call) => sum + call.virusScore, 0) / ofBases.length;
          expect(virusScore).toBeCloseTo(mean, 6);
          expect(Math.fround(virusScore)).toBe(virusScore);
        }

        const best = calls.map((call) => call.virusScore);
        expect(summary.bestChunk).toBe(scored[best.indexOf(Math.max(...best))]?.chunk ?? null);
        const [first = null, second = null] = best.toSorted((a, b) => b - a);
        expect([summary.bestScore, summary.secondScore]).toEqual([first, second]);

        const isFailed = chunks.some(({ reason }) => reason !== null);
        expect(summary.prediction === 'failed').toBe(isFailed);
        expect(summary.reason === 'ok').toBe(!isFailed && scored.length > 0);
        if (summary.reason !== 'ok') return;
        expect(summary.prediction).toBe(virusScore! >= 0.5 ? 'virus' : 'others');
        // Chunks with the same call decide, which the queries of viral rows rely on.
        if (summary.nChunksViral === 0) expect(summary.prediction).toBe('others');
        if (summary.nChunksViral === scored.length) expect(summary.prediction).toBe('virus');
        const level = evidenceOf({ ...summary, undecidedUpTo: -1, length, chunkLength: CHUNK });
        const agreeing =
          summary.prediction === 'virus' ? summary.nBasesViral : ofBases.length - summary.nBasesViral;
        if (level !== 'weak') expect(2 * agreeing).toBeGreaterThan(ofBases.length);
        if (length < 750) expect(level).toBe('weak');
      }),
      { numRuns: 1000 },
    );
  });
});
