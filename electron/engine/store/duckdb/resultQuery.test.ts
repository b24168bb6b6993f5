import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUERY_EXAMPLES, type QueryAnswer, type QueryCell } from '../../../contract/rpc/results.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { openRunStore, type RunStore } from '../runStore.ts';
import { computeAll, finish, HOST_ENTRY, preparedRun } from '../testing/storeFixture.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { quoted } from './quoted.ts';
import type { QueryTable } from './queryProcess.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
const outside = temporaryFolder();
const secret = join(outside, 'secret.csv');
let folder: string;
let store: RunStore;

beforeAll(async () => {
  writeFileSync(secret, 'not_yours\n1\n');
  const run = await preparedRun([
    [recordOf('a one', [63, 5]), recordOf('b', [9])],
    [recordOf('closed', [0]), recordOf('c', [1, 2, 4])],
  ]);
  await computeAll(run);
  await finish(run);
  await run.store.close();
  folder = run.folder;
  store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
});
afterAll(() => store.close());

const ask = (sql: string, { rows = 1000, seconds = 20, tables = [] as QueryTable[] } = {}) =>
  store.queryResults({ sql, samples: ['gut', 'soil'], tables, rows }, seconds);

const withoutTime = ({ columns, rows }: QueryAnswer) => ({ columns, rows });

/** Opens a copy of the run, whose files `change` may change. */
async function openCopy(name: string, change: (path: string, name: string) => void = () => undefined) {
  const at = join(temporaryFolder(), name);
  cpSync(folder, at, { recursive: true });
  for (const file of readdirSync(at)) change(join(at, file), file);
  const copy = await openRunStore(at, { hostEntry: HOST_ENTRY, readOnly: true });
  const question = { samples: ['gut', 'soil'], tables: [], rows: 1000 };
  return { store: copy, ask: (sql: string) => copy.queryResults({ ...question, sql }, 20) };
}

/** All files of the run and of the folder beside it, with their bytes. */
const onDisk = (): string[] =>
  [folder, outside].flatMap((place) =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${name} ${readFileSync(join(parentPath, name)).toString('base64')}`),
  );

describe('a query', () => {
  it('can use sequences, chunks, samples and the tables of other tools', async () => {
    const { columns, rows, isCut } = await ask(
      'SELECT sample, count(*) AS n, sum(length) AS bases FROM sequences JOIN samples USING (input) GROUP BY ALL ORDER BY ALL',
    );
    expect(columns.map(({ name }) => name)).toEqual(['sample', 'n', 'bases']);
    expect(rows).toEqual([
      ['gut', 2, 1493],
      ['soil', 2, 1993],
    ]);
    expect(isCut).toBe(false);
    expect((await ask('SELECT count(*), min("start"), max("end") FROM chunks')).rows).toEqual([[7, 1, 1493]]);
    const genomad: QueryTable = {
      name: 'genomad',
      columns: [
        { name: 'row', type: 'INTEGER' },
        { name: 'is_virus', type: 'BOOLEAN' },
        { name: 'taxonomy', type: 'VARCHAR' },
        { name: 'score', type: 'DOUBLE' },
      ],
      rows: [[3, true, "Caudo'viricetes", 0.5]],
    };
    const joined = await ask(
      'SELECT seq_name, taxonomy, score, is_virus FROM genomad JOIN sequences USING ("row")',
      {
        tables: [genomad],
      },
    );
    expect(joined.rows).toEqual([['c', "Caudo'viricetes", 0.5, true]]);
  });

  it('returns the numbers of the tables, equal to the last bit', async () => {
    const [head = '', ...lines] = readFileSync(join(folder, RESULT_FILES.sequences), 'utf8')
      .trimEnd()
      .split('\n');
    const columns = head.split('\t');
    const wanted = lines.map((line) => line.split('\t'));
    const { rows } = await ask(`SELECT ${columns.join(', ')} FROM sequences ORDER BY row`);
    // Whole numbers are printed without a decimal point.
    const text = (cell: QueryCell) =>
      cell === null ? 'NA' : typeof cell === 'boolean' ? (cell ? 'True' : 'False') : String(cell);
    expect(rows.map((row) => row.map(text))).toEqual(
      wanted.map((row) => row.map((cell) => cell.replace(/^(\d+)[.]0$/, '$1'))),
    );
  });

  it.each(QUERY_EXAMPLES.map(({ key, sql }) => [key, sql]))(
    'works for each of the examples: %s',
    async (_, sql) => {
      expect((await ask(sql)).columns.length).toBeGreaterThan(1);
    },
  );

  it('gives advice if it is wrong or there are more rows', async () => {
    await expect(ask('SELECT nothing FROM sequences')).rejects.toMatchObject({
      error: { code: 'usage', cause: expect.stringContaining('nothing') as string },
    });
    expect(await ask('SELECT * FROM range(50)', { rows: 3 })).toMatchObject({
      rows: [[0], [1], [2]],
      isCut: true,
    });
  });

  it.each([
    ['a model for research', null],
    ['the teaching model', 'for teaching'],
  ])(
    'asks an unfinished run too, and does not read chunks.tsv to learn its columns: %s',
    async (_, notice) => {
      const run = await preparedRun([[recordOf('a', [1]), recordOf('b', [2])]], 8, { model: { notice } });
      await computeAll(run);
      const question = { samples: ['gut'], tables: [], rows: 9 };
      const sequences = { ...question, sql: 'SELECT seq_name FROM sequences' };
      expect((await run.store.queryResults(sequences, 20)).rows).toEqual([['a'], ['b']]);
      const files = await finish(run);
      const chunks = { ...question, sql: 'SELECT seq_name, reason FROM chunks' };
      expect((await run.store.queryResults(chunks, 20)).rows).toEqual([
        ['a', 'ok'],
        ['b', 'ok'],
      ]);
      // It is larger than a query's memory, but quick to create: all but its beginning is a hole.
      const bytes = 1.5 * 1024 ** 3;
      truncateSync(join(run.folder, RESULT_FILES.chunks), bytes);
      await run.store.saveResultFiles({ ...files, [RESULT_FILES.chunks]: { bytes, sha256: '0'.repeat(64) } });
      expect((await run.store.queryResults(sequences, 20)).rows).toEqual([['a'], ['b']]);
      await run.store.close();
    },
  );

  it.each([
    'run [1]',
    'x{a,b}',
    'prediction=virus',
    ...(process.platform === 'win32' ? [] : ['a*b', 'why?']),
  ])('works in a folder named %s', async (name) => {
    const copy = await openCopy(name);
    for (const sql of ['SELECT * FROM sequences ORDER BY row', 'SELECT * FROM chunks ORDER BY ALL'])
      expect((await copy.ask(sql)).rows).toEqual((await ask(sql)).rows);
    const page = (of: RunStore) => of.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 9);
    expect(await page(copy.store)).toEqual(await page(store));
    await copy.store.close();
  });

  it('answers from no file with a flipped bit, also if its time and size are as before', async () => {
    const sequences = 'SELECT * FROM sequences ORDER BY row';
    const flipped = await openCopy('flipped', (path, name) => {
      if (name !== RESULT_FILES.chunks && name !== RESULT_FILES.results) return;
      const { atime, mtime } = statSync(path);
      const bytes = readFileSync(path);
      // In the file of chunks a digit of a score becomes another one.
      const at = name === RESULT_FILES.chunks ? bytes.indexOf('0.') + 2 : bytes.length >> 1;
      bytes[at]! ^= 1;
      writeFileSync(path, bytes);
      utimesSync(path, atime, mtime);
    });
    // Twice, as the second query trusts what the first has compared.
    for (let time = 0; time < 2; time++) {
      expect(await flipped.ask(sequences)).toMatchObject(withoutTime(await ask(sequences)));
      await expect(flipped.ask('SELECT * FROM "chunks"')).rejects.toMatchObject({
        error: { code: 'run_damaged' },
      });
    }
    await flipped.store.close();
  });
});

describe('a hostile query', () => {
  const file = () => quoted(join(outside, 'written'));
  it.each([
    ['reads a file', () => `SELECT * FROM read_csv(${quoted(secret)})`],
    ['reads a file by its name', () => `SELECT * FROM ${quoted(secret)}`],
    ['reads a file as text', () => `SELECT * FROM read_text(${quoted(secret)})`],
    ['reads passwords', () => `SELECT * FROM read_csv('/etc/passwd')`],
    ['lists a folder', () => `SELECT * FROM glob(${quoted(`${outside}/*`)})`],
    ['looks into a Parquet file elsewhere', () => `SELECT * FROM parquet_metadata(${quoted(secret)})`],
    ['sniffs', () => `SELECT * FROM sniff_csv(${quoted(secret)})`],
    ['fetches', () => `SELECT * FROM read_csv('https://example.org/a.csv')`],
    ['writes a file', () => `COPY sequences TO ${file()}`],
    ['writes over a result', () => `COPY (SELECT 1) TO ${quoted(join(folder, RESULT_FILES.results))}`],
    ['exports', () => `EXPORT DATABASE ${file()}`],
    ['attaches', () => `ATTACH ${file()} AS other`],
    [
      'attaches the database of the run',
      () => `ATTACH ${quoted(join(folder, 'run.db'))} AS other (TYPE sqlite)`,
    ],
    ['installs', () => 'INSTALL httpfs'],
    ['loads', () => `LOAD ${quoted(secret)}`],
    ['sets', () => 'SET enable_external_access = true'],
    ['resets', () => 'RESET lock_configuration'],
    ['sets by PRAGMA', () => `PRAGMA temp_directory = ${file()}`],
    ['changes', () => 'UPDATE samples SET sample = 1'],
    ['drops', () => 'DROP VIEW sequences'],
    ['calls', () => 'CALL pragma_version()'],
    [
      'logs to a file',
      () => `SELECT * FROM enable_logging('QueryLog', storage := 'file', storage_path := ${file()})`,
    ],
    ['asks twice', () => `SELECT 1; COPY (SELECT 1) TO ${file()}`],
    ['profiles into a file', () => `EXPLAIN ANALYZE SELECT 1`],
    ['asks nothing', () => ' -- '],
    ['runs another as text', () => `SELECT * FROM query('SELECT 1')`],
  ])('that %s is refused, and changes nothing', async (_, sql) => {
    mkdirSync(outside, { recursive: true });
    const before = onDisk();
    await expect(ask(sql())).rejects.toMatchObject({ error: { code: 'usage' } });
    expect(onDisk()).toEqual(before);
  });

  it.each([
    [
      'never ends',
      'WITH RECURSIVE again(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM again) SELECT max(n) FROM again',
    ],
    [
      'makes lists in one step',
      "SELECT length(array_to_string(list_transform(range(200000000), x -> 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa'), 'b'))",
    ],
    ['makes huge texts', `SELECT max(length(repeat('x', 1000000000 + range))) FROM range(10000)`],
  ])('that %s is stopped, and the next query works', async (_, sql) => {
    await expect(ask(sql, { seconds: 2 })).rejects.toMatchObject({ error: { code: 'usage' } });
    expect((await ask('SELECT count(*) FROM sequences')).rows).toEqual([[4]]);
  });
});
