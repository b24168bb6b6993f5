import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { compute, preparedRun } from '../testing/storeFixture.ts';
import { recordOf, type FrameRef } from '../testing/syntheticRun.ts';
import { openDuckDb } from './duckdb.ts';
import { quotedPath } from './quoted.ts';

const SCORES = [0.9, 0.9, 0.4, 0.8, 0.105, 0.205, 0.45];
const score = ({ row }: FrameRef): number => SCORES[row]!;
/** 0.30 to 0.01. */
const TRUSTED_SCORES = Array.from({ length: 30 }, (_, i) => (30 - i) / 100);
const COLUMNS = ['seq_name', 'pair_score', 'pair_prediction', 'p_value'];

it('calls read pairs from both mates and gives p-values, in the window, also before the run is done, sequences.tsv and results.parquet alike', async () => {
  const trusted = {
    file: 'mouse.fa',
    calibratedAt: '2026-01-01T00:00:00.000Z',
    classes: [
      { from: 0, scored: 0, scores: [] },
      { from: 500, scored: 30, scores: TRUSTED_SCORES },
    ],
  };
  // The files are reads_0, and the mates reads_1 and reads_2; the latter has one read more.
  const run = await preparedRun(
    [
      [recordOf('contig', [1])],
      [recordOf('a/1', [1]), recordOf('b/1', [1]), recordOf('c/1', [1])],
      [recordOf('a/2', [1]), recordOf('b/2', [1]), recordOf('other/2', [1]), recordOf('more/2', [0])],
    ],
    1,
    { trusted },
  );
  const shown = async () => {
    const found = await run.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 100);
    return found.items.map((item) => [item.seqName, item.pairScore, item.pairPrediction, item.pValue]);
  };
  const keys = (await run.store.pendingParts()).map(({ key }) => key);
  for (const key of keys.slice(0, 4)) await compute(run, key, score);
  // No trusted score is 0.4 or more, ten are 0.205 or more, and twenty 0.105 or more.
  const [best, middle, low] = [1, 11, 21].map((reaching) => Math.fround(reaching / 31));
  expect((await shown()).slice(0, 4)).toEqual([
    ['contig', null, null, best],
    ['a/1', null, null, best],
    ['b/1', null, null, best],
    ['c/1', null, null, best],
  ]);
  for (const key of keys.slice(4)) await compute(run, key, score);
  const mean = (one: number, other: number) =>
    Math.fround((500 * Math.fround(SCORES[one]!) + 500 * Math.fround(SCORES[other]!)) / 1000);
  const [a, b] = [mean(1, 4), mean(2, 5)];
  const wanted = [
    ['contig', null, null, best],
    ['a/1', a, 'virus', best],
    ['b/1', b, 'others', best],
    ['c/1', null, null, best],
    ['a/2', a, 'virus', low],
    ['b/2', b, 'others', middle],
    ['other/2', null, null, best],
    ['more/2', null, null, null],
  ];
  expect(await shown()).toEqual(wanted);

  await run.store.writeTables();
  expect(await shown()).toEqual(wanted);
  const table = readFileSync(join(run.folder, RESULT_FILES.sequences), 'utf8').trimEnd().split('\n');
  const [head = [], ...lines] = table.map((line) => line.split('\t'));
  const text = (value: string | number | null | undefined) =>
    typeof value === 'number' ? float32Text(value) : (value ?? 'NA');
  expect(lines.map((line) => COLUMNS.map((name) => line[head.indexOf(name)]))).toEqual(
    wanted.map((row) => row.map(text)),
  );
  const duck = await openDuckDb();
  const path = quotedPath(join(run.folder, RESULT_FILES.results));
  const rows = await duck.rows(`SELECT ${COLUMNS.join(', ')} FROM read_parquet(${path}) ORDER BY row`);
  expect(rows.map((row) => Object.values(row) as unknown)).toEqual(wanted);
  duck.close();
  await run.store.close();
});
