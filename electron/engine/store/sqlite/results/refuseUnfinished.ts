import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../../contract/errors.ts';
import { readRun } from '../runRows.ts';

/** Results are for runs whose parts are all settled. */
export function refuseUnfinished(db: Database.Database): void {
  const open = db
    .prepare<[], number>(`SELECT count(*) FROM part WHERE state IN ('pending', 'assigned')`)
    .pluck()
    .get();
  if (open === 0 && readRun(db).prepared !== null) return;
  throw new AppFailure(
    appError('internal', `Results were asked for with ${open} parts still to be computed.`),
  );
}
