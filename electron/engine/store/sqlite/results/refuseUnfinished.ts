import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../../contract/errors.ts';
import { readRun } from '../runRows.ts';

/** Refuses results for runs that have unsettled parts. */
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
