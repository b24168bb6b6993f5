import Database from 'better-sqlite3';
import { copyFileSync, renameSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CheckedRuns, stampOf, type CheckedStamps } from './checkedRuns.ts';
import { openRunStore } from './runStore.ts';
import { computeAll, HOST_ENTRY, preparedRun } from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

const RECORDS = Array.from({ length: 300 }, (_, i) => recordOf(`sequence_${i}`, [63]));

let sound = '';

beforeAll(async () => {
  const run = await preparedRun([RECORDS], 1000);
  await computeAll(run);
  await run.store.writeTables();
  await run.store.close();
  sound = run.folder;
});
function copyOfRun(): string {
  const folder = temporaryFolder();
  copyFileSync(join(sound, 'run.db'), join(folder, 'run.db'));
  return folder;
}

/**
 * Stores a text that is far too long, which only the check finds before a query does, and hides the time of
 * the change.
 */
function damage(folder: string): void {
  const path = join(folder, 'run.db');
  const { atime, mtime } = statSync(path);
  const db = new Database(path);
  db.exec(
    `INSERT INTO event (time, level, code, message) VALUES (0, 'info', 'x', hex(zeroblob(${2 ** 22})))`,
  );
  db.close();
  utimesSync(path, atime, mtime);
}

const look = async (folder: string, checkedRuns: CheckedRuns): Promise<string> => {
  try {
    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true, checkedRuns });
    await store.close();
    return 'opened';
  } catch {
    return 'refused';
  }
};

describe('runs that need no check', () => {
  it('are those that this program checked or closed, also after a restart', async () => {
    const folder = copyOfRun();
    let saved: CheckedStamps = {};
    const save = (stamps: CheckedStamps): void => {
      saved = stamps;
    };
    const first = new CheckedRuns({}, save);
    expect(first.knows(folder)).toBe(false);
    expect(await look(folder, first)).toBe('opened');
    expect(first.knows(folder)).toBe(true);
    expect(new CheckedRuns(saved).knows(folder)).toBe(true);

    const writer = await openRunStore(folder, { hostEntry: HOST_ENTRY, checkedRuns: first });
    await writer.rename('another name');
    expect(first.knows(folder)).toBe(false);
    await writer.close();
    expect(new CheckedRuns(saved).knows(folder)).toBe(true);
  });

  it('are opened without a check, but with one once anything has written to them, whatever time it sets', async () => {
    const folder = copyOfRun();
    const known = new CheckedRuns();
    expect(await look(folder, known)).toBe('opened');
    damage(folder);
    expect(known.knows(folder)).toBe(false);
    expect(await look(folder, known)).toBe('refused');
    expect(known.knows(folder)).toBe(false);
    // It opens only because it is listed as checked.
    expect(await look(folder, new CheckedRuns({ [folder]: stampOf(folder)! }))).toBe('opened');
  });

  it('do not include others that replace them', async () => {
    const folder = copyOfRun();
    const known = new CheckedRuns();
    expect(await look(folder, known)).toBe('opened');
    const other = copyOfRun();
    renameSync(join(other, 'run.db'), join(folder, 'run.db'));
    expect(known.knows(folder)).toBe(false);
  });

  it('are remembered after a restart only if SQLite has no pending changes', async () => {
    const folder = copyOfRun();
    const db = new Database(join(folder, 'run.db'));
    db.pragma('journal_mode = WAL');
    db.exec(`UPDATE run SET name = 'x'`);
    let saved: CheckedStamps = {};
    const known = new CheckedRuns({}, (stamps) => {
      saved = stamps;
    });
    expect(await look(folder, known)).toBe('opened');
    expect(saved).toEqual({});
    db.close();
  });
});
