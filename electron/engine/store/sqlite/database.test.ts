import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { AppFailure } from '../../../contract/errors.ts';
import { checkKind, migrate, type DatabaseKind, describeStoreError } from './database.ts';
import { openRunReader, openRunWriter } from '../runDatabase.ts';
import { RUN_DATABASE } from './runSchema.ts';
import { makeUnreadable } from '../../system/testing/unreadableFile.ts';
import { DESCRIPTION, syntheticPlan } from '../testing/syntheticRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
let readAgain = (): void => undefined;
afterEach(() => {
  readAgain();
});

function newRun(): { folder: string; path: string } {
  const folder = temporaryFolder();
  const { groups } = openRunWriter(folder, { plan: syntheticPlan(1), description: DESCRIPTION });
  void groups.step.close();
  return { folder, path: join(folder, 'run.db') };
}

/** Code of the error with which a run fails to open. */
function refusal(folder: string): string {
  const codes = [() => openRunWriter(folder, null).groups, () => openRunReader(folder)].map((open) => {
    try {
      open().read.loadRun();
      return 'opened';
    } catch (error) {
      return describeStoreError(error, folder).code;
    }
  });
  return codes[0] === codes[1] ? codes[0]! : codes.join(' to write, to read ');
}

function edit(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

describe('run.db', () => {
  it('opens if it is intact', () => {
    const { folder } = newRun();
    expect(refusal(folder)).toBe('opened');
  });

  it('is refused from a newer version', () => {
    const { folder, path } = newRun();
    edit(path, `PRAGMA user_version = ${RUN_DATABASE.migrations.length + 1}`);
    expect(refusal(folder)).toBe('run_too_new');
  });

  it('is refused from another program, empty, or absent', () => {
    const { folder, path } = newRun();
    edit(path, 'PRAGMA application_id = 1');
    expect(refusal(folder)).toBe('folder_not_a_run');
    writeFileSync(path, '');
    expect(refusal(folder)).toBe('folder_not_a_run');
    expect(refusal(temporaryFolder())).toBe('folder_not_a_run');
  });

  it('is reported as damaged if it cannot be read', () => {
    const damage: ((path: string) => void)[] = [
      (path) => writeFileSync(path, 'not a database at all '.repeat(99)),
      (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
      (path) => writeFileSync(path, readFileSync(path).fill(0xff, 4096, 5 * 4096)),
      (path) => edit(path, `UPDATE run SET state = '{"phase":"dreaming"}'`),
      (path) => edit(path, 'DELETE FROM run'),
    ];
    for (const harm of damage) {
      const { folder, path } = newRun();
      harm(path);
      expect(refusal(folder)).toBe('run_damaged');
    }
  });

  it('never changes its plan', () => {
    const { path } = newRun();
    expect(() => edit(path, `UPDATE plan SET plan = '{}'`)).toThrow('the plan of a run never changes');
  });
});

describe('migrations', () => {
  const kind = (...migrations: string[]): DatabaseKind => ({
    applicationId: 42,
    migrations,
    notOurs: 'internal',
  });
  const first = 'CREATE TABLE record (name TEXT)';
  const second = 'ALTER TABLE record ADD COLUMN length INTEGER; UPDATE record SET length = 0';

  it('bring an older file to the newest version and keep its content', () => {
    const db = new Database(':memory:');
    migrate(db, kind(first));
    db.exec(`INSERT INTO record VALUES ('a')`);
    migrate(db, kind(first, second));
    migrate(db, kind(first, second));
    expect(db.prepare('SELECT * FROM record').all()).toEqual([{ name: 'a', length: 0 }]);
    expect(db.pragma('user_version', { simple: true })).toBe(2);
    expect(() => checkKind(db, kind(first))).toThrow(AppFailure);
    db.close();
  });

  it('change nothing if one of them fails', () => {
    const db = new Database(':memory:');
    migrate(db, kind(first));
    expect(() => migrate(db, kind(first, second, 'CREATE TABLE record (again TEXT)'))).toThrow(
      'already exists',
    );
    expect(db.pragma('user_version', { simple: true })).toBe(1);
    expect(db.prepare('SELECT * FROM record').columns()).toHaveLength(1);
    db.close();
  });
});

describe('errors of the store', () => {
  const withCode = (code: string) => Object.assign(new Error('no'), { code });
  it.each([
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
    ['EROFS', 'folder_unwritable'],
    ['EACCES', 'folder_unwritable'],
    ['EMFILE', 'internal'],
  ])('%s means %s', (code, expected) => {
    expect(describeStoreError(withCode(code), '/').code).toBe(expected);
  });

  it.each([
    ['SQLITE_FULL', 'disk_full'],
    ['SQLITE_CORRUPT_INDEX', 'run_damaged'],
    ['SQLITE_NOTADB', 'run_damaged'],
    ['SQLITE_READONLY_DBMOVED', 'folder_unwritable'],
    ['SQLITE_BUSY_RECOVERY', 'run_locked'],
    ['SQLITE_CONSTRAINT', 'internal'],
  ])('%s means %s', (code, expected) => {
    expect(describeStoreError(new Database.SqliteError('no', code), '/').code).toBe(expected);
  });

  it.each([
    ['EIO', 'read', 'folder_unreadable'],
    ['EIO', 'lstat', 'folder_unreadable'],
    ['ESTALE', 'scandir', 'folder_unreadable'],
    ['EACCES', 'scandir', 'folder_unreadable'],
    ['EIO', 'write', 'folder_unwritable'],
    ['EIO', 'fsync', 'folder_unwritable'],
    ['EACCES', 'mkdir', 'folder_unwritable'],
    ['ENOSPC', 'open', 'disk_full'],
  ])('%s of %s means %s', (code, syscall, expected) => {
    expect(describeStoreError(Object.assign(withCode(code), { syscall }), '/').code).toBe(expected);
  });

  it.each([
    ['SQLITE_IOERR_READ', 'folder_unreadable'],
    ['SQLITE_IOERR_CORRUPTFS', 'folder_unreadable'],
    ['SQLITE_IOERR_WRITE', 'folder_unwritable'],
    ['SQLITE_IOERR_FSYNC', 'folder_unwritable'],
  ])('%s means %s', (code, expected) => {
    expect(describeStoreError(new Database.SqliteError('no', code), '/').code).toBe(expected);
  });

  it('tell a database that its disk does not read from a damaged one, which SQLite does not', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'run.db'), 'no database');
    const malformed = new Database.SqliteError('no', 'SQLITE_CORRUPT');
    expect(describeStoreError(malformed, folder).code).toBe('run_damaged');
    readAgain = makeUnreadable(join(folder, 'run.db'));
    expect(describeStoreError(malformed, folder).code).toBe('folder_unreadable');
  });

  it('report a missing folder as such, whatever the code', () => {
    expect(describeStoreError(withCode('ENOENT'), '/nowhere/at/all').code).toBe('folder_gone');
    expect(describeStoreError(new Database.SqliteError('no', 'SQLITE_IOERR_WRITE'), '/nowhere').code).toBe(
      'folder_gone',
    );
  });
});
