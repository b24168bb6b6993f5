import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { RUN_DATABASE } from '../../../../contract/folderNames.ts';
import type { InputProblem } from '../../../../contract/protocol/index.ts';
import { copyTelemetry } from './shares.ts';
import { sealMethods } from './digests.ts';

/**
 * What the merged run already contained before the adopted run: the adopted run's numbers continue from
 * these.
 */
export interface AdoptedBefore {
  readonly runs: number;
  readonly inputs: number;
  readonly records: number;
  readonly parts: number;
}

/** Keys in prepare's format, with the suffixes from bisecting. */
const renumbered = (key: string): string =>
  `printf('%06d', CAST(${key} AS INTEGER) + $parts) || substr(${key}, instr(${key} || '.', '.'))`;

/** Each computer counts its processors from 0; a GPU's id is unique. */
const DEVICE_OF = (column: string): string =>
  `iif(${column} LIKE 'cpu:%', ${column} || '#' || ($runs + 1), ${column})`;
const DEVICE = DEVICE_OF('device');

/** The columns that change when a row moves; all others stay the same. Seals are recomputed. */
const MOVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  record: { row: 'row + $records', input: 'input + $inputs' },
  records_file: {
    path: `'work/' || $inputs || '/' || substr(path, 6)`,
    first_row: 'first_row + $records',
    rows_sha256: 'NULL',
  },
  part: {
    id: 'id + $ids',
    key: renumbered('key'),
    number: 'number + $parts',
    parent: renumbered('parent'),
    first_row: 'first_row + $records',
    last_row: 'last_row + $records',
    embeddings_sha256: 'NULL',
    rows_sha256: 'NULL',
    device: DEVICE,
  },
  chunk: { row: 'row + $records', part: 'part + $ids' },
};

const PREPARED_INPUTS = `UPDATE main.input SET (records, bases, first_row, failure) =
  (SELECT records, bases, first_row + $records, failure FROM other.input AS own WHERE own.input + $inputs = main.input.input)
  WHERE input IN (SELECT input + $inputs FROM other.input)`;

function copyOf(db: Database.Database, table: string, moved: Readonly<Record<string, string>>): string {
  const columns = db
    .prepare<[string], string>(`SELECT name FROM pragma_table_info(?, 'main')`)
    .pluck()
    .all(table);
  const values = columns.map((column) => moved[column] ?? column);
  return `INSERT INTO main.${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM other.${table}`;
}

/**
 * Adopts a finished run, after those adopted before it. The caller holds its lock, and has compared it with
 * its digests; here it gets new digests. Kept embeddings stay where they are.
 */
export function adoptRun(
  db: Database.Database,
  folder: string,
  before: AdoptedBefore,
  problems: readonly InputProblem[],
): void {
  db.prepare('ATTACH ? AS other').run(join(folder, RUN_DATABASE));
  try {
    db.transaction(() => {
      const ids = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM main.part').pluck().get() ?? 0;
      const numbers = new Map(Object.entries({ ...before, ids }));
      const numbered = (sql: string) =>
        sql.replaceAll(/\$(\w+)/g, (_, name: string) => String(numbers.get(name)));
      const copies = Object.entries(MOVED).map(([table, moved]) => copyOf(db, table, moved));
      const devices = copyOf(db, 'device', { id: DEVICE_OF('id') }).replace('INSERT', 'INSERT OR REPLACE');
      for (const copy of [devices, PREPARED_INPUTS, ...copies]) db.exec(numbered(copy));
      addProblems(db, before, problems);
      copyTelemetry(db, 'other', numbered(DEVICE));
      seal(db, before);
    })();
  } finally {
    db.exec('DETACH other');
  }
}

function addProblems(
  db: Database.Database,
  { inputs, records }: AdoptedBefore,
  problems: readonly InputProblem[],
): void {
  const add = db.prepare(
    'INSERT INTO input_problem (input, code, variables, count, examples) VALUES (?, ?, ?, ?, ?)',
  );
  for (const { input, code, values, count, examples } of problems) {
    const moved = examples.map(({ row, ...example }) => ({ row: row + records, ...example }));
    add.run(input + inputs, code, JSON.stringify(values), count, JSON.stringify(moved));
  }
}

function seal(db: Database.Database, { records, parts }: AdoptedBefore): void {
  const { sealPart, sealRecords } = sealMethods(db);
  const keys = db.prepare<[number], string>(
    `SELECT key FROM part WHERE number >= ? AND state IN ('done', 'failed', 'skipped')`,
  );
  for (const key of keys.pluck().all(parts)) sealPart(key);
  const files = db.prepare<[number], { path: string; first_row: number; count: number }>(
    'SELECT path, first_row, count FROM records_file WHERE first_row >= ?',
  );
  for (const { path, first_row, count } of files.all(records)) sealRecords(path, first_row, count);
}
