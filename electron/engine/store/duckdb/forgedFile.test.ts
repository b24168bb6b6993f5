import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { openRunStore } from '../runStore.ts';
import { computeAll, finish, HOST_ENTRY, preparedRun } from '../testing/storeFixture.ts';
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

/** Changes results.parquet; `noted`: with the digest of what it is then. */
type Change = [name: string, change: (path: string) => Promise<void> | void, noted?: 'noted'];

it.each<Change>([
  ['other scores, and no digest of them', (path) => forge(path, ROWS)],
  ['a row twice', (path) => forge(path, `${ROWS} UNION ALL SELECT * FROM own LIMIT 3`), 'noted'],
  [
    'rows of another number',
    (path) => forge(path, 'SELECT * REPLACE (row + 2000000 AS row) FROM own'),
    'noted',
  ],
  ['other columns', (path) => forge(path, 'SELECT row, seq_name FROM own'), 'noted'],
  ['no Parquet', (path) => writeFileSync(path, 'PAR1 is not enough'), 'noted'],
  [
    'a link to another one',
    (path) => {
      const elsewhere = join(temporaryFolder(), 'elsewhere.parquet');
      renameSync(path, elsewhere);
      symlinkSync(elsewhere, path);
    },
  ],
  ['nothing, as it is gone', (path) => rmSync(path)],
])('a results.parquet with %s is not trusted: results come from run.db', async (_, change, noted) => {
  const run = await preparedRun([[recordOf('a', [1, 2]), recordOf('b', [63])]]);
  await computeAll(run);
  await finish(run);
  const look = async (store: typeof run.store) =>
    store.findSequences({ filter: {} }, { by: 'virusScore', descending: true }, 0, 10);
  const before = await look(run.store);
  await run.store.close();
  const path = join(run.folder, RESULT_FILES.results);
  await change(path);
  if (noted) noteDigest(run.folder, path);
  const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
  expect(await look(store)).toEqual(before);
  await store.close();
});
