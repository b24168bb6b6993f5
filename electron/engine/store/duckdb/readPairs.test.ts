import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { compute, preparedRun, type PreparedRun } from '../testing/storeFixture.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { openDuckDb } from './duckdb.ts';
import { quotedPath } from './quoted.ts';
const SCORES = [0.9, 0.9, 0.3, 0.8, 0.1, 0.2, 0.45];

async function pairsShown(run: PreparedRun) {
  const { items } = await run.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 100);
  return items.map(({ seqName, pairScore, pairPrediction }) => [
    seqName,
    pairScore && [pairScore, pairPrediction],
  ]);
}

it('calls read pairs from both mates, in the window, sequences.tsv and results.parquet alike', async () => {
  // The files are reads_0, and the mates reads_1 and reads_2; the latter has one read more.
  const run = await preparedRun(
    [
      [recordOf('contig', [1])],
      [recordOf('a/1', [1]), recordOf('b/1', [1]), recordOf('c/1', [1])],
      [recordOf('a/2', [1]), recordOf('b/2', [1]), recordOf('other/2', [1]), recordOf('more/2', [0])],
    ],
    1,
  );
  const keys = (await run.store.pendingParts()).map(({ key }) => key);
  for (const key of keys.slice(0, 4)) await compute(run, key, ({ row }) => SCORES[row]!);
  expect((await pairsShown(run)).slice(0, 4)).toEqual([
    ['contig', null],
    ['a/1', null],
    ['b/1', null],
    ['c/1', null],
  ]);
  for (const key of keys.slice(4)) await compute(run, key, ({ row }) => SCORES[row]!);
  await run.store.writeTables();

  const mean = (one: number, other: number) =>
    Math.fround((500 * Math.fround(SCORES[one]!) + 500 * Math.fround(SCORES[other]!)) / 1000);
  const [a, b] = [
    [mean(1, 4), 'virus'],
    [mean(2, 5), 'others'],
  ];
  const wanted = [
    ['contig', null],
    ['a/1', a],
    ['b/1', b],
    ['c/1', null],
    ['a/2', a],
    ['b/2', b],
    ['other/2', null],
    ['more/2', null],
  ];
  expect(await pairsShown(run)).toEqual(wanted);

  const [head, ...lines] = readFileSync(join(run.folder, RESULT_FILES.sequences), 'utf8')
    .trimEnd()
    .split('\n');
  expect(head).toMatch(/\tpair_score\tpair_prediction$/);
  expect(lines.map((line) => line.split('\t').slice(-2))).toEqual(
    wanted.map(([, pair]) => (pair === null ? ['NA', 'NA'] : [float32Text(pair![0] as number), pair![1]])),
  );
  const duck = await openDuckDb();
  const rows = await duck.rows(
    `SELECT seq_name, pair_score, pair_prediction FROM read_parquet(${quotedPath(join(run.folder, RESULT_FILES.results))}) ORDER BY row`,
  );
  expect(rows.map((row) => Object.values(row) as unknown)).toEqual(
    wanted.map(([name, pair]) => [name, ...(pair === null ? [null, null] : (pair as unknown[]))]),
  );
  duck.close();
  await run.store.close();
});
