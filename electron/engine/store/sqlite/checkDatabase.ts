import { accessSync, closeSync, constants, existsSync, fstatSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { openPlain, refuseUnlessPlain } from '../../system/runFiles.ts';
import { checkKind, versionOf, type DatabaseKind, damaged, readToEnd } from './database.ts';

/*
 * A query in SQLite can't be interrupted from another thread, so a database from somebody else must be known
 * to contain only data before the first query: no views, no triggers, no expressions but ours, no pages that
 * form a cycle.
 */

const BESIDE = ['', '-wal', '-shm', '-journal'];
/** Marks the end of a journal that names another one, which SQLite would open and delete wherever it is. */
const NAMES_ANOTHER = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Refuses a database, or one of SQLite's files beside it, if it is a link or not a regular file. Call this
 * before opening it.
 */
export function checkDatabaseFiles(folder: string, file: string): void {
  for (const ending of BESIDE) refuseUnlessPlain(join(folder, file + ending));
  // SQLite can't say whether it may not read a file or may not write it.
  if (existsSync(join(folder, file))) accessSync(join(folder, file), constants.R_OK);
  const journal = endOf(join(folder, `${file}-journal`), NAMES_ANOTHER.length);
  if (journal?.equals(NAMES_ANOTHER))
    throw damaged(`${file}-journal in ${folder} names a file outside of the run.`);
}

function endOf(path: string, bytes: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = openPlain(path, 'read');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    const end = Buffer.alloc(bytes);
    const { size } = fstatSync(descriptor);
    return size >= bytes && readSync(descriptor, end, 0, bytes, size - bytes) === bytes ? end : null;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Settings for any database that may have come from elsewhere; better-sqlite3 has switched on SQLite's
 * defensive mode.
 */
export function distrust(db: Database.Database): void {
  db.pragma('trusted_schema = OFF');
  db.pragma('cell_size_check = ON');
  db.pragma('mmap_size = 0');
}

/**
 * Checks that this program created the database and left it intact. Throws AppFailure. The cost grows with
 * the file: 3 s per GB. `known` means that this process has already done so.
 */
export function checkDatabase(db: Database.Database, kind: DatabaseKind, known: boolean): void {
  checkKind(db, kind);
  checkSchema(db, kind);
  if (known) return;
  // Every page belongs to one table, and every value has the type of its column.
  const found = verdictOf(db, 'quick_check(1)');
  if (found !== null) throw damaged(`${basename(db.name)} is damaged.`, found);
  checkSizes(db);
}

/**
 * What SQLite finds wrong with pages, tables and indexes, in its words; null if nothing. Reads the whole
 * file.
 */
export function checkPages(db: Database.Database): string | null {
  return verdictOf(db, 'integrity_check(1)');
}

/** What one of SQLite's checks finds, in its words; null if nothing. Throws what `fs` throws if the disk is to blame. */
export function verdictOf(db: Database.Database, check: string): string | null {
  const verdict = String(db.pragma(check, { simple: true }));
  if (verdict === 'ok') return null;
  readToEnd(db.name);
  return verdict;
}

interface SchemaRow {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

/** Compares tables, indexes and triggers with those that our own migrations make. */
function checkSchema(db: Database.Database, kind: DatabaseKind): void {
  const version = versionOf(db);
  const expected = schemaOf(kind, version);
  const found = readSchema(db);
  const foreign = [...found].find(([name, sql]) => !STATISTICS.test(name) && expected.get(name) !== sql);
  const missing = [...expected.keys()].find((key) => !found.has(key));
  const wrong = foreign?.[0] ?? missing;
  if (wrong !== undefined) {
    throw damaged(
      'The tables in run.db are not those that this program makes.',
      `version ${version}: ${wrong}`,
    );
  }
}

/** Tables that ANALYZE creates. */
const STATISTICS = /^table sqlite_stat\d$/;

const schemas = new Map<string, Map<string, string>>();

function schemaOf(kind: DatabaseKind, version: number): Map<string, string> {
  const key = `${kind.applicationId} ${version}`;
  const known = schemas.get(key);
  if (known) return known;
  const model = new Database(':memory:');
  try {
    for (const migration of kind.migrations.slice(0, version)) model.exec(migration);
    const schema = readSchema(model);
    schemas.set(key, schema);
    return schema;
  } finally {
    model.close();
  }
}

/** Far more than ours has, also in the length of any part. */
const MOST_SCHEMA_ROWS = 200;
const LONGEST_SQL = 20_000;

function readSchema(db: Database.Database): Map<string, string> {
  const rows = db
    .prepare<[], SchemaRow>(
      `SELECT type, name, tbl_name, substr(sql, 1, ${LONGEST_SQL}) AS sql FROM sqlite_schema LIMIT ${MOST_SCHEMA_ROWS}`,
    )
    .all();
  // The quoting of names and the line breaks depend on the version of SQLite that renamed a table.
  const plain = (sql: string | null): string =>
    (sql ?? '').replaceAll('"', '').replaceAll(/\s+/g, ' ').trim();
  return new Map(
    rows.map(({ type, name, tbl_name, sql }) => [`${type} ${name}`, `${tbl_name}: ${plain(sql)}`]),
  );
}

/** In bytes. A header line may be as long as this program's longest text; this program writes the rest. */
const LONGEST: Readonly<Record<string, number>> = {
  'record.name': 2 ** 28,
  'record.header': 2 ** 28,
  'plan.plan': 2 ** 27,
  'chunk.scores': 2 ** 10,
};
const LONGEST_ELSEWHERE = 2 ** 22;

/** Refuses texts and blobs that are longer than any of ours, before reading any. */
function checkSizes(db: Database.Database): void {
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all();
  for (const table of tables) {
    const columns = (db.pragma(`table_info(${table})`) as { name: string; type: string }[])
      .filter(({ type }) => type === 'TEXT' || type === 'BLOB')
      .map(({ name }) => ({ name, longest: LONGEST[`${table}.${name}`] ?? LONGEST_ELSEWHERE }));
    if (columns.length === 0) continue;
    const isTooLong = columns.map(({ name, longest }) => `octet_length(${name}) > ${longest}`).join(' OR ');
    if (db.prepare(`SELECT 1 FROM ${table} WHERE ${isTooLong} LIMIT 1`).get() !== undefined)
      throw damaged(`run.db holds a text in "${table}" that is far too long.`);
  }
}
