import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { compute, preparedRun } from '../testing/storeFixture.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { openDuckDb } from './duckdb.ts';
import { quotedPath } from './quoted.ts';
it('gives the same p-values in the window, also before the run is done, in sequences.tsv and in results.parquet', async () => {
  const scores = Array.from({ length: 30 }, (_, i) => (30 - i) / 100);
  const trusted = {
    file: 'mouse.fa',
    calibratedAt: '2026-01-01T00:00:00.000Z',
    classes: [
      { from: 0, scored: 0, scores: [] },
      { from: 500, scored: 30, scores },
    ],
  };
  const run = await preparedRun(
    [[recordOf('high', [1]), recordOf('none', [0]), recordOf('middle', [1])]],
    1,
    { trusted },
  );
  const shown = async () => {
    const found = await run.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 9);
    return found.items.map(({ pValue }) => pValue);
  };
  const score = ({ row }: { row: number }): number => (row === 0 ? 0.9 : 0.205);
  // No trusted score is 0.9 or more, and ten (0.30 to 0.21) are 0.205 or more.
  const [high, middle] = [Math.fround(1 / 31), Math.fround(11 / 31)];
  const keys = (await run.store.pendingParts()).map(({ key }) => key);
  await compute(run, keys[0]!, score);
  expect((await shown())[0]).toBe(high);
  for (const key of keys.slice(1)) await compute(run, key, score);
  expect(await shown()).toEqual([high, null, middle]);

  await run.store.writeTables();
  expect(await shown()).toEqual([high, null, middle]);
  const [head, ...lines] = readFileSync(join(run.folder, RESULT_FILES.sequences), 'utf8')
    .trimEnd()
    .split('\n');
  expect(head).toMatch(/\tp_value$/);
  expect(lines.map((line) => line.split('\t').at(-1))).toEqual([
    float32Text(high),
    'NA',
    float32Text(middle),
  ]);
  const duck = await openDuckDb();
  expect(
    await duck.rows(
      `SELECT p_value FROM read_parquet(${quotedPath(join(run.folder, RESULT_FILES.results))}) ORDER BY row`,
    ),
  ).toEqual([{ p_value: high }, { p_value: null }, { p_value: middle }]);
  duck.close();
  await run.store.close();
});
