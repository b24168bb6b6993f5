import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { AppFailure } from '../../../contract/errors.ts';
import { checkKind, migrate, type DatabaseKind, describeStoreError } from './database.ts';
import { openRunWriter } from '../runDatabase.ts';
import { makeUnreadable } from '../../system/testing/unreadableFile.ts';
import { DESCRIPTION, syntheticPlan } from '../testing/syntheticRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

let readAgain = (): void => undefined;
afterEach(() => {
  readAgain();
});

it('never changes the plan of a run', () => {
  const folder = temporaryFolder();
  const { groups } = openRunWriter(folder, { plan: syntheticPlan(1), description: DESCRIPTION });
  void groups.step.close();
  const db = new Database(join(folder, 'run.db'));
  expect(() => db.exec(`UPDATE plan SET plan = '{}'`)).toThrow('the plan of a run never changes');
  db.close();
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
  const failed = (code: string, syscall?: string) =>
    code.startsWith('SQLITE')
      ? new Database.SqliteError('no', code)
      : Object.assign(new Error('no'), { code, syscall });

  it.each<[code: string, expected: string, syscall?: string]>([
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
    ['EROFS', 'folder_unwritable'],
    ['EACCES', 'folder_unwritable'],
    ['EMFILE', 'internal'],
    ['EIO', 'folder_unreadable', 'read'],
    ['EIO', 'folder_unreadable', 'lstat'],
    ['ESTALE', 'folder_unreadable', 'scandir'],
    ['EACCES', 'folder_unreadable', 'scandir'],
    ['EIO', 'folder_unwritable', 'write'],
    ['EIO', 'folder_unwritable', 'fsync'],
    ['EACCES', 'folder_unwritable', 'mkdir'],
    ['ENOSPC', 'disk_full', 'open'],
    ['SQLITE_FULL', 'disk_full'],
    ['SQLITE_CORRUPT_INDEX', 'run_damaged'],
    ['SQLITE_NOTADB', 'run_damaged'],
    ['SQLITE_READONLY_DBMOVED', 'folder_unwritable'],
    ['SQLITE_BUSY_RECOVERY', 'run_locked'],
    ['SQLITE_CONSTRAINT', 'internal'],
    ['SQLITE_IOERR_READ', 'folder_unreadable'],
    ['SQLITE_IOERR_CORRUPTFS', 'folder_unreadable'],
    ['SQLITE_IOERR_WRITE', 'folder_unwritable'],
    ['SQLITE_IOERR_FSYNC', 'folder_unwritable'],
  ])('%s means %s (%s)', (code, expected, syscall) => {
    expect(describeStoreError(failed(code, syscall), '/').code).toBe(expected);
  });

  it('tell a database that its disk does not read from a damaged one, which SQLite does not', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'run.db'), 'no database');
    const malformed = failed('SQLITE_CORRUPT');
    expect(describeStoreError(malformed, folder).code).toBe('run_damaged');
    readAgain = makeUnreadable(join(folder, 'run.db'));
    expect(describeStoreError(malformed, folder).code).toBe('folder_unreadable');
  });

  it('report a missing folder as such, whatever the code', () => {
    for (const error of [failed('ENOENT'), failed('SQLITE_IOERR_WRITE')])
      expect(describeStoreError(error, '/nowhere/at/all').code).toBe('folder_gone');
  });
});
