import type Database from 'better-sqlite3';
import { appError, AppFailure, type ErrorCode } from '../../../contract/errors.ts';

/** A kind of database file of this program. */
export interface DatabaseKind {
  /** Written into the file's header, so that another program's SQLite file is recognised. */
  applicationId: number;
  /** `migrations[i]` leads from version i to i + 1. Never changed once released, only added to. */
  migrations: readonly string[];
  /** The error for an SQLite file that isn't of this kind. */
  notOurs: ErrorCode;
}

/** Rejects (AppFailure) a file of another kind or of a newer version. */
export function checkKind(db: Database.Database, kind: DatabaseKind): void {
  if (db.pragma('application_id', { simple: true }) !== kind.applicationId)
    throw new AppFailure(appError(kind.notOurs, `${db.name} was not made by this program.`));
  const version = versionOf(db);
  if (version > kind.migrations.length) {
    const cause = `${db.name} has version ${version}; this program knows versions up to ${kind.migrations.length}.`;
    throw new AppFailure(appError('run_too_new', cause));
  }
}

/** Brings a new or older file to the current version, in one transaction. */
export function migrate(db: Database.Database, kind: DatabaseKind): void {
  const steps = db.transaction(() => {
    for (const migration of kind.migrations.slice(versionOf(db))) db.exec(migration);
    db.pragma(`application_id = ${kind.applicationId}`);
    db.pragma(`user_version = ${kind.migrations.length}`);
  });
  if (versionOf(db) < kind.migrations.length) steps.immediate();
}

export function isEmptyDatabase(db: Database.Database): boolean {
  return db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
}

export function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** SQLite sorts in pieces of the size of its cache, and a thread keeps the memory it has taken. */
const SMALL_CACHE_KB = 4096;

/** Uses less memory when a million rows or more are sorted, or read completely; the speed is the same. */
export function inLittleMemory<Value>(db: Database.Database, work: () => Value): Value {
  const before = db.pragma('cache_size', { simple: true }) as number;
  db.pragma(`cache_size = -${SMALL_CACHE_KB}`);
  try {
    return work();
  } finally {
    db.pragma(`cache_size = ${before}`);
  }
}
