import type Database from 'better-sqlite3';
import { resultQueryMethods } from './results/queries.ts';
import { resultQuery } from '../duckdb/resultQuery.ts';
import { resultSource } from '../duckdb/resultSource.ts';
import { sequenceQueryMethods } from '../duckdb/sequenceQueries.ts';
import { tableMethods } from './results/tables/tables.ts';
import { viralSoFarMethods } from './results/derive/viralSoFar.ts';
import { checkPages } from './checkDatabase.ts';
import { attemptReadMethods, attemptWriteMethods } from './parts/attempts.ts';
import { readDeviceMeasures } from './telemetry/deviceMeasures.ts';
import { readCounts, readInputProgress } from './progress.ts';
import { eventPageMethods } from './telemetry/eventPages.ts';
import { prepareIntakeMethods } from './parts/prepareIntake.ts';
import { readResultFiles, resultFileMethods } from './resultFiles.ts';
import {
  readDevices,
  readInputs,
  readLeftOut,
  readPlan,
  readProblems,
  readRun,
  runRowMethods,
} from './runRows.ts';
import { readDeviceSummaries, readTimings } from './telemetry/runTimings.ts';
import { findDamage, refuseDamage, refuseDamagedPlan, verifyPendingParts } from './parts/damage.ts';
import { partFailureMethods } from './parts/partFailure.ts';
import { partIntakeMethods } from './parts/partIntake.ts';
import { partPageMethods } from './parts/partPages.ts';
import { partReadMethods } from './parts/partRows.ts';
import { partSplitMethods } from './parts/partSplit.ts';
import { shareMethods, shareParts } from './parts/shares.ts';
import { telemetryReadMethods, telemetryWriteMethods } from './telemetry/telemetry.ts';
import type { StoredRun } from '../types.ts';

/** What a thread with a read-only connection answers. */
/** `known`: this process has checked the run already, or made it. */
export function runReadMethods(db: Database.Database, folder: string, known: boolean) {
  const source = resultSource(db, folder, known);
  return {
    loadRun: db.transaction((): StoredRun => ({
      ...readRun(db),
      plan: readPlan(db),
      devices: readDevices(db),
      inputs: readInputs(db),
      problems: readProblems(db),
      leftOut: readLeftOut(db),
      counts: readCounts(db),
    })),
    counts: db.transaction(() => readCounts(db)),
    inputProgress: db.transaction(() => readInputProgress(db)),
    timings: db.transaction(() => readTimings(db)),
    deviceSummaries: () => readDeviceSummaries(db),
    ...viralSoFarMethods(db),
    deviceMeasures: () => readDeviceMeasures(db),
    verifyPendingParts: () => verifyPendingParts(db, folder),
    findDamage: db.transaction(() => findDamage(db)),
    refuseDamage: db.transaction(() => refuseDamage(db)),
    refuseDamagedPlan: db.transaction(() => refuseDamagedPlan(db)),
    checkPages: () => checkPages(db),
    resultFiles: () => readResultFiles(db),
    ...partReadMethods(db),
    shareParts: () => shareParts(db),
    ...attemptReadMethods(db),
    ...telemetryReadMethods(db),
    ...eventPageMethods(db),
    ...partPageMethods(db),
    ...resultQueryMethods(db),
    ...sequenceQueryMethods(db, source),
    deriveResults: source.derive,
    queryResults: resultQuery(db, folder, source),
    ...tableMethods(db, folder),
    closeResults: source.close,
    closeReader: (): Promise<void> => {
      db.close();
      return source.close();
    },
  };
}
export type RunReadMethods = ReturnType<typeof runReadMethods>;

/** What the one thread that writes answers: reads as well, for where there can be no second connection. */
export function runWriteMethods(db: Database.Database, folder: string) {
  const reading = runReadMethods(db, folder, true);
  return {
    ...reading,
    ...runRowMethods(db),
    ...resultFileMethods(db),
    ...prepareIntakeMethods(db, folder),
    ...attemptWriteMethods(db),
    ...partIntakeMethods(db, folder),
    ...partFailureMethods(db, folder),
    ...partSplitMethods(db, folder),
    ...shareMethods(db, folder),
    ...telemetryWriteMethods(db),
    checkpoint: (): void => void db.pragma('wal_checkpoint(TRUNCATE)'),
    closeWriter: (): Promise<void> => {
      closeWriter(db);
      return reading.closeResults();
    },
  };
}
export type RunWriteMethods = ReturnType<typeof runWriteMethods>;

/** Leaves a single file that opens anywhere, a read-only disk included: in WAL mode SQLite would want to write beside it. */
function closeWriter(db: Database.Database): void {
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('journal_mode = DELETE');
  } catch {
    // Another program is just reading the run, or the disk is full: what is not in run.db yet stays in the WAL beside it.
  }
  db.close();
}
