import { expect, it } from 'vitest';
import type { SequenceResult } from '../../../contract/results.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { compareRuns, type ComparedSequence } from './compareRuns.ts';

type Short = [name: string, length: number, prediction: SequenceResult['prediction'], score: number | null];

function runOf(...sequences: Short[]): RunStore {
  const rows = sequences.map(([seqName, length, prediction, virusScore], row) => ({
    row,
    seqName,
    length,
    prediction,
    virusScore,
  }));
  const store: Partial<RunStore> = {
    selectedRows: () => Promise.resolve(Uint32Array.from(rows, ({ row }) => row)),
    sequencesOf: (wanted) => Promise.resolve(Array.from(wanted, (row) => rows[row] as SequenceResult)),
  };
  return store as RunStore;
}

it('compares the sequences of two runs by name and length, the n-th of equal ones with the n-th', async () => {
  const first = runOf(
    ['a', 500, 'virus', 0.9],
    ['twice', 300, 'virus', 0.8],
    ['twice', 300, 'others', 0.1],
    ['gone', 700, 'virus', 0.7],
    ['unscored', 40, 'not_scored', null],
  );
  const second = runOf(
    ['twice', 300, 'others', 0.4],
    ['twice', 300, 'others', 0.1],
    ['a', 500, 'virus', 0.9],
    ['a', 501, 'virus', 0.9],
    ['unscored', 40, 'not_scored', null],
  );
  const changed: ComparedSequence[] = [];
  const comparison = await compareRuns(first, second, (one) => void changed.push(one));
  expect(comparison).toMatchObject({ inBoth: 4, onlyInFirst: 1, onlyInSecond: 1, sameCall: 3 });
  expect(comparison.calls.virus).toEqual({ virus: 1, others: 1, not_scored: 0, failed: 0 });
  expect(changed.map(({ first: one, second: other }) => [one.row, other.row])).toEqual([[1, 0]]);
  const listed: ComparedSequence[] = [];
  await compareRuns(
    first,
    second,
    (one) => void listed.push(one),
    (row, other) => row === 0 && other === 2,
  );
  expect(listed.map((one) => [one.seqName, one.first.row, one.second.row])).toEqual([
    ['a', 0, 2],
    ['twice', 1, 0],
  ]);
  expect(comparison.scores?.compared).toBe(3);
  const pairs = comparison.scoreGrid.flatMap((row, one) =>
    row.flatMap((n, other) => (n > 0 ? [[one, other, n]] : [])),
  );
  expect(pairs).toEqual([
    [2, 2, 1],
    [16, 8, 1],
    [18, 18, 1],
  ]);
  expect(comparison.scores?.largestDifference).toBeCloseTo(0.4, 9);
  expect(comparison.scores?.meanAbsoluteDifference).toBeCloseTo(0.4 / 3, 9);
  expect(comparison.scores?.correlation).toBeCloseTo(0.85148509, 7); // The value of Python's statistics.correlation.
});
