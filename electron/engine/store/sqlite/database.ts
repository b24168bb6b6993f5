import { accessSync, closeSync, constants, existsSync, readSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import {
  appError,
  AppFailure,
  type ErrorCode,
  asAppError,
  type AppError,
  appFailure,
} from '../../../contract/errors.ts';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import { message } from '../../../contract/messages.ts';
import { openPlain } from '../../system/runFiles.ts';

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
    throw appFailure(kind.notOurs, `${db.name} was not made by this program.`);
  const version = versionOf(db);
  if (version > kind.migrations.length) {
    const cause = `${db.name} has version ${version}; this program knows versions up to ${kind.migrations.length}.`;
    throw appFailure('run_too_new', cause);
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
  const restore = limitCache(db);
  try {
    return work();
  } finally {
    restore();
  }
}

/** The same for work that waits for others; it reads one state of the database, whatever other connections write. */
export async function inOneState<Value>(db: Database.Database, work: () => Promise<Value>): Promise<Value> {
  const restore = limitCache(db);
  db.exec('BEGIN');
  try {
    return await work();
  } finally {
    if (db.inTransaction) db.exec('COMMIT');
    restore();
  }
}

function limitCache(db: Database.Database): () => void {
  const before = db.pragma('cache_size', { simple: true }) as number;
  db.pragma(`cache_size = -${SMALL_CACHE_KB}`);
  return () => db.pragma(`cache_size = ${before}`);
}

/** Explains a failure of SQLite or of the file system in `folder` to the user. */
export function describeStoreError(failure: unknown, folder: string): AppError {
  if (failure instanceof AppFailure) return failure.error;
  const reason = (isDamage(failure) && failedRead(join(folder, RUN_DATABASE))) || failure;
  const code = errorCode(reason);
  if (code === null) return asAppError(reason);
  const detail = reason instanceof Error ? `${code}: ${reason.message}` : code;
  if (!existsSync(folder)) return appError('folder_gone', message('place.gone', { folder }), { detail });
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL')
    return appError('disk_full', message('place.full', { folder }), { detail });
  if (isDamage(reason))
    return appError('run_damaged', message('run.database_unreadable', { folder }), { detail });
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
    return appError('run_locked', message('run.database_busy', { folder }), { detail });
  if (isReading(reason, code)) {
    const why = MAY_NOT.has(code) ? message('reason.not_allowed_to_read') : message('reason.disk_error');
    const path = fileOf(reason) ?? folder;
    return appError('folder_unreadable', message('place.unreadable', { path, reason: why }), { detail });
  }
  if (MAY_NOT.has(code) || ['EROFS', 'SQLITE_PERM', 'SQLITE_AUTH'].includes(code) || isRefusedWrite(code))
    return appError('folder_unwritable', message('place.unwritable', { folder }), { detail });
  if (code.startsWith('SQLITE_IOERR') || DISK_TROUBLE.has(code))
    return appError('folder_unwritable', message('place.trouble', { folder }), { detail });
  return asAppError(reason);
}

/** The error for database content that this program can't have written. */
export function damaged(cause: string, detail?: string): AppFailure {
  return appFailure('run_damaged', cause, detail === undefined ? {} : { detail });
}

/** A time that a Date can represent. Throws AppFailure for any other number. */
export function checkedTime(time: number): number {
  if (Number.isSafeInteger(time) && Math.abs(time) <= 8.64e15) return time;
  throw damaged('run.db holds a time that is none.');
}

/** Includes SQLite's errors for an exhausted quota: it recognises only ENOSPC as a full disk. */
const DISK_TROUBLE: ReadonlySet<string> = new Set([
  'EIO',
  'EFBIG',
  'ESTALE',
  'ENOTCONN',
  'EHOSTDOWN',
  'ENODEV',
]);

const MAY_NOT: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/** Node.js's names of the calls that read a file, or look at one. */
const READING_CALLS: ReadonlySet<string> = new Set(['access', 'fstat', 'lstat', 'read', 'readlink', 'realpath', 'scandir', 'stat']); // prettier-ignore

const READING_CODES = /^SQLITE_IOERR_(READ|CORRUPTFS|FSTAT|DATA|SEEK)$/;

/** Whether a failure of the disk, or a refusal, met something that only reads. */
function isReading(reason: unknown, code: string): boolean {
  if (READING_CODES.test(code)) return true;
  if (!MAY_NOT.has(code) && !DISK_TROUBLE.has(code)) return false;
  const { syscall = '' } = reason as NodeJS.ErrnoException;
  return READING_CALLS.has(syscall) || (syscall === 'open' && !canBeRead(fileOf(reason)));
}

/** An error of opening a file does not say for what it was opened. */
function canBeRead(path: string | null): boolean {
  try {
    accessSync(path ?? '', constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file that a call of Node.js names in its error, if it names one. */
function fileOf(reason: unknown): string | null {
  return reason instanceof Error && 'path' in reason && typeof reason.path === 'string' ? reason.path : null;
}

/**
 * Reads a database, with what is not in it yet, to its end: SQLite reports a page that the disk did not read as a
 * malformed one. Throws what `fs` throws.
 */
export function readToEnd(path: string): void {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (const file of [path, `${path}-wal`]) {
    if (!existsSync(file)) continue;
    const descriptor = openPlain(file, 'read');
    try {
      while (readSync(descriptor, block) > 0);
    } catch (reason) {
      throw Object.assign(reason as Error, { path: file });
    } finally {
      closeSync(descriptor);
    }
  }
}

const BLOCK_BYTES = 2 ** 20;

function failedRead(path: string): unknown {
  try {
    readToEnd(path);
    return null;
  } catch (reason) {
    return reason;
  }
}

/** Whether SQLite reports that a database's content is broken. */
export function isDamage(reason: unknown): boolean {
  const code = errorCode(reason);
  return code !== null && (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'));
}

function isRefusedWrite(code: string): boolean {
  return code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN');
}

function errorCode(reason: unknown): string | null {
  if (reason instanceof Database.SqliteError) return reason.code;
  if (reason instanceof Error && 'code' in reason && typeof reason.code === 'string') return reason.code;
  return null;
}
