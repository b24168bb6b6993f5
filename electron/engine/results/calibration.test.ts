import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../testing/randomNumbers.ts';
import { calibrate, pValue } from './calibration.ts';

const labelled = (scores: readonly (number | null)[], length = 600) =>
  scores.map((score) => ({ length, score }));

function trustedOf(scores: readonly number[]) {
  const classes = calibrate([], labelled(scores));
  return {
    file: 'host.fa',
    calibratedAt: '2026-01-01T00:00:00.000Z',
    classes: classes.map(({ from, other, trustedScores }) => ({
      from,
      scored: other.scored,
      scores: trustedScores,
    })),
  };
}

const exact = (scores: readonly number[], score: number) =>
  (1 + scores.filter((one) => one >= score).length) / (scores.length + 1);

describe('p-values', () => {
  it('are exact among the highest scores and up to 5 % too large below, never too small', () => {
    const random = randomNumbers(1);
    for (const count of [19, 40, 100, 101, 1000, 30_000]) {
      // Rounded, so that many scores are equal.
      const scores = Array.from({ length: count }, () => Math.fround(Math.round(random() * 2000) / 2000));
      const trusted = trustedOf(scores);
      const kept = trusted.classes.find(({ from }) => from === 500)!.scores.length;
      expect(kept).toBeLessThan(300);
      for (let i = 0; i < 300; i++) {
        const score = i % 2 === 0 ? scores[Math.floor(random() * count)]! : random();
        const [found, wanted] = [pValue(trusted, 600, score)!, exact(scores, score)];
        expect(found).toBeGreaterThanOrEqual(Math.fround(wanted));
        expect(found).toBeLessThanOrEqual(wanted * 1.06);
        if (wanted * (count + 1) <= 100) expect(found).toBe(Math.fround(wanted));
      }
    }
  });

  it('are null without a score, without enough trusted sequences of that length, and without any', () => {
    const trusted = trustedOf(Array.from({ length: 19 }, (_, i) => i / 20));
    expect(pValue(trusted, 600, 1)).toBe(Math.fround(0.05));
    expect(pValue(trusted, 600, null)).toBeNull();
    expect(pValue(trusted, 499, 1)).toBeNull();
    expect(pValue(trusted, 1000, 1)).toBeNull();
    expect(pValue(trustedOf(Array.from({ length: 18 }, () => 0.1)), 600, 1)).toBeNull();
    expect(pValue(null, 600, 1)).toBeNull();
  });
});

it('counts sequences that reach each threshold, by length, and those without a score', () => {
  const viral = [...labelled([0.9, 0.5, null]), { length: 499, score: 0.99 }];
  const classes = calibrate(viral, labelled([0.6, 0.2, null, 0.1], 999));
  const [short, medium] = [250, 500].map((begin) => classes.find(({ from }) => from === begin));
  expect(short).toMatchObject({
    from: 250,
    viral: { sequences: 1, scored: 1 },
    other: { sequences: 0, scored: 0 },
  });
  expect(medium).toMatchObject({
    from: 500,
    viral: { sequences: 3, scored: 2 },
    other: { sequences: 4, scored: 3 },
  });
  const at = (threshold: number) => medium!.thresholds.find((row) => row.threshold === threshold);
  expect(at(0.5)).toEqual({ threshold: 0.5, viralAbove: 2, otherAbove: 1 });
  expect(at(0.9)).toEqual({ threshold: 0.9, viralAbove: 1, otherAbove: 0 });
  expect(at(0.95)).toEqual({ threshold: 0.95, viralAbove: 0, otherAbove: 0 });
});

it('counts a length at a class boundary in the upper class, and a score at a threshold as reaching it', () => {
  const classes = calibrate([{ length: 500, score: 0.5 }], [{ length: 1000, score: 0.9 }]);
  expect(classes.map(({ viral }) => viral.sequences)).toEqual([0, 0, 0, 1, 0, 0, 0]);
  expect(classes.map(({ other }) => other.sequences)).toEqual([0, 0, 0, 0, 1, 0, 0]);
  const reached = classes[4]!.thresholds.filter(({ otherAbove }) => otherAbove === 1);
  expect(reached.map(({ threshold }) => threshold)).toEqual([0.5, 0.6, 0.7, 0.8, 0.9]);
});
