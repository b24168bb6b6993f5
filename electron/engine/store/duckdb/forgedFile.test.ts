import { createHash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { openRunStore } from '../runStore.ts';
import { computeAll, HOST_ENTRY, preparedRun } from '../testing/storeFixture.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { openDuckDb } from './duckdb.ts';
import { quoted } from './quoted.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
const ROWS = 'SELECT * REPLACE (0.5::FLOAT AS virus_score) FROM own';

/** Replaces results.parquet by a forged file; `sql` makes its rows from the real ones. */
async function forge(path: string, sql: string): Promise<void> {
  const duck = await openDuckDb();
  await duck.run(`CREATE TABLE own AS FROM read_parquet(${quoted(path)})`);
  await duck.run(`COPY (${sql}) TO ${quoted(path)} (FORMAT parquet)`);
  duck.close();
}

/** Writes the forged file's digest into run.db, as somebody would who sends a run to do harm. */
function noteDigest(folder: string, path: string): void {
  const bytes = readFileSync(path);
  const db = new Database(join(folder, 'run.db'));
  db.prepare('UPDATE result_file SET bytes = ?, sha256 = ? WHERE name = ?').run(
    bytes.length,
    createHash('sha256').update(bytes).digest('hex'),
    RESULT_FILES.results,
  );
  db.close();
}

it.each<[string, (path: string, folder: string) => Promise<void> | void]>([
  ['other scores, and no digest of them', (path) => forge(path, ROWS)],
  [
    'a row twice',
    async (path, folder) => {
      await forge(path, `${ROWS} UNION ALL SELECT * FROM own LIMIT 3`);
      noteDigest(folder, path);
    },
  ],
  [
    'rows of another number',
    async (path, folder) => {
      await forge(path, 'SELECT * REPLACE (row + 2000000 AS row) FROM own');
      noteDigest(folder, path);
    },
  ],
  [
    'other columns',
    async (path, folder) => {
      await forge(path, 'SELECT row, seq_name FROM own');
      noteDigest(folder, path);
    },
  ],
  [
    'no Parquet',
    (path, folder) => {
      writeFileSync(path, 'PAR1 is not enough');
      noteDigest(folder, path);
    },
  ],
  [
    'a link to another one',
    (path) => {
      const elsewhere = join(temporaryFolder(), 'elsewhere.parquet');
      writeFileSync(elsewhere, readFileSync(path));
      rmSync(path);
      symlinkSync(elsewhere, path);
    },
  ],
  ['nothing, as it is gone', (path) => rmSync(path)],
])('a results.parquet with %s is not trusted: results come from run.db', async (_, change) => {
  const run = await preparedRun([[recordOf('a', [1, 2]), recordOf('b', [63])]]);
  await computeAll(run);
  const { files } = await run.store.writeTables();
  await run.store.saveResultFiles(files);
  await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  const look = async (store: typeof run.store) =>
    store.findSequences({ filter: {} }, { by: 'virusScore', descending: true }, 0, 10);
  const before = await look(run.store);
  await run.store.close();
  await change(join(run.folder, RESULT_FILES.results), run.folder);
  const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
  expect(await look(store)).toEqual(before);
  await store.close();
});
