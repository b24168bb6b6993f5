import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { Plan } from '../../../contract/plan.ts';
import { RUN_DATABASE as RUN_DATABASE_FILE } from '../../../contract/folderNames.ts';
import { refuseLinks } from '../runFolder.ts';
import { replaceFile, syncFolder } from '../../system/replaceFile.ts';
import { somethingAt } from '../../system/runFiles.ts';
import { checkDatabase, checkDatabaseFiles, distrust } from './checkDatabase.ts';
import { isEmptyDatabase, migrate } from './database.ts';
import { networkFileSystem } from '../networkFileSystem.ts';
import { closeOpenAttempts } from './parts/attempts.ts';
import { sealPlan } from './parts/digests.ts';
import { insertRun } from './runRows.ts';
import { runMethods, type RunMethodGroups } from './runMethods.ts';
import { RUN_DATABASE } from './runSchema.ts';
import { OPENED_TO_LOOK, type Journal } from '../storeProtocol.ts';
import type { RunDescription } from '../types.ts';

interface NewRun {
  plan: Plan;
  description: RunDescription;
}

/** Opens run.db for the single writing thread, creating it first if requested. */
export function openRunWriter(
  folder: string,
  create: NewRun | null,
): { groups: RunMethodGroups; journal: Journal } {
  const path = join(folder, RUN_DATABASE_FILE);
  refuseLinks(folder);
  if (create) createRunDatabase(folder, path, create);
  const db = openExisting(folder, { readonly: false, known: create !== null });
  const journal: Journal = networkFileSystem(folder) ? 'rollback' : 'wal';
  if (journal === 'wal') {
    db.pragma('journal_mode = WAL');
  } else {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = DELETE');
  }
  // FULL, not WAL's usual NORMAL: a part reported as done must still be done after a power cut. One flush per part.
  db.pragma('synchronous = FULL');
  db.pragma('cache_size = -16384');
  migrate(db, RUN_DATABASE);
  closeOpenAttempts(db, Date.now());
  return { groups: runMethods(db, folder, true), journal };
}

/** Opens run.db for a reading thread, beside a writer of this or another process. */
export function openRunReader(folder: string, known = false): RunMethodGroups {
  const db = openExisting(folder, { readonly: true, known });
  db.pragma('cache_size = -16384');
  const groups = runMethods(db, folder, known);
  const refusing = Object.fromEntries(Object.keys(groups.write).map((name) => [name, refuseToWrite]));
  return { ...groups, write: Object.assign(groups.write, refusing) };
}

function refuseToWrite(): never {
  throw new AppFailure(OPENED_TO_LOOK);
}

/** `known`: this process has already checked the database, or created it. */
function openExisting(
  folder: string,
  { readonly, known }: { readonly: boolean; known: boolean },
): Database.Database {
  const path = join(folder, RUN_DATABASE_FILE);
  if (!somethingAt(path))
    throw new AppFailure(appError('folder_not_a_run', message('run.no_database', { folder })));
  checkDatabaseFiles(folder, RUN_DATABASE_FILE);
  const db = new Database(path, { readonly, fileMustExist: true });
  try {
    distrust(db);
    if (isEmptyDatabase(db))
      throw new AppFailure(appError('folder_not_a_run', message('run.empty_database', { folder })));
    checkDatabase(db, RUN_DATABASE, known);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Created under another name until it is complete: a folder has either a complete run.db or none. */
function createRunDatabase(folder: string, path: string, run: NewRun): void {
  mkdirSync(folder, { recursive: true });
  if (somethingAt(path))
    throw new AppFailure(appError('folder_has_run', `${folder} holds a run.db already.`));
  const unfinished = `${path}.creating`;
  rmSync(unfinished, { force: true });
  rmSync(`${unfinished}-journal`, { force: true });
  const db = new Database(unfinished);
  try {
    db.pragma('synchronous = FULL');
    migrate(db, RUN_DATABASE);
    db.transaction(() => {
      insertRun(db, run.plan, run.description);
      sealPlan(db);
    })();
  } finally {
    db.close();
  }
  replaceFile(unfinished, path);
  syncFolder(folder);
}
