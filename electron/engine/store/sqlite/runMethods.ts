import type Database from 'better-sqlite3';
import { resultQueryMethods } from './results/queries.ts';
import { resultQuery } from '../duckdb/resultQuery.ts';
import { resultSource } from '../duckdb/resultSource.ts';
import { sequenceQueryMethods } from '../duckdb/sequenceQueries.ts';
import { tableMethods } from './results/tables/tables.ts';
import { viralSoFarMethods } from './results/derive/viralSoFar.ts';
import { adoptRun, type AdoptedBefore } from './parts/adoptRun.ts';
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
import type { AllOf } from '../storeProtocol.ts';
import type { StoredRun } from '../types.ts';
import type { InputProblem } from '../../../contract/protocol/index.ts';

/**
 * Everything that can be asked of a run's database, by how it is asked. The one list: `RunStore` has its types and its names from here.
 * `known`: this process has checked the run already, or made it.
 */
export function runMethods(db: Database.Database, folder: string, known: boolean) {
  const source = resultSource(db, folder, known);
  const chunks = resultQueryMethods(db);
  const { sequence, inputSummaries, findSequences, countPredictions, ...sequences } = sequenceQueryMethods(
    db,
    source,
  );
  const { scoreBins, sequencesOf, lengthShares, lengthScores, ...whole } = sequences;
  return {
    /** Of the thread that reads, where there is one. */
    read: {
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
      /** Sequences called virus among those scored so far; results have them once a run is done. */
      ...viralSoFarMethods(db),
      /** Reads all samples: for when a run has ended, or somebody asks. */
      deviceMeasures: () => readDeviceMeasures(db),
      /** Rejects with run_damaged where the plan is not what the run was made with. */
      refuseDamagedPlan: db.transaction(() => refuseDamagedPlan(db)),
      /** What SQLite finds wrong with the whole database; null where all is well. */
      checkPages: () => checkPages(db),
      /** The result files by name, as they were written last; none before. */
      resultFiles: () => readResultFiles(db),
      ...partReadMethods(db),
      /** All parts that wait, as the shares of the run get them. */
      shareParts: () => shareParts(db),
      ...attemptReadMethods(db),
      ...telemetryReadMethods(db),
      ...eventPageMethods(db),
      ...partPageMethods(db),
      ...chunks,
    },
    /** As `read`, once the results of a run that is not done are derived: as far as that goes in a moment. */
    readDerived: {
      sequence,
      inputSummaries,
      findSequences,
      countPredictions,
      scoreBins,
      sequencesOf,
      lengthShares,
      lengthScores,
    },
    /** As `read`, once all results are derived. */
    readAllDerived: whole,
    /** Reads all of the run: in a thread of its own where that is large. */
    readApart: {
      /** Keys of pending parts whose file is missing or has another hash. */
      verifyPendingParts: () => verifyPendingParts(db, folder),
      /** Compares everything stored with its digests. */
      findDamage: db.transaction(() => findDamage(db)),
    },
    /** Of the one thread that writes, in the order asked. Each is one transaction, on the disk when it is answered. */
    write: {
      ...runRowMethods(db),
      ...resultFileMethods(db),
      ...prepareIntakeMethods(db, folder),
      ...attemptWriteMethods(db),
      ...partIntakeMethods(db, folder),
      ...partFailureMethods(db, folder),
      ...partSplitMethods(db, folder),
      ...shareMethods(db, folder),
      adoptRun: (from: string, before: AdoptedBefore, problems: readonly InputProblem[]): void =>
        adoptRun(db, from, before, problems),
      ...telemetryWriteMethods(db),
      /** Brings everything into run.db itself, so that copying the folder loses nothing. */
      checkpoint: (): void => void db.pragma('wal_checkpoint(TRUNCATE)'),
    },
    /** Steps of what the store does with several threads. */
    step: {
      deriveResults: source.derive,
      answerQuery: resultQuery(db, folder, source),
      refuseDamage: db.transaction(() => refuseDamage(db)),
      ...tableMethods(db, folder),
      close: (): Promise<void> => {
        if (!db.readonly) leaveOneFile(db);
        db.close();
        return source.close();
      },
    },
  };
}
export type RunMethodGroups = ReturnType<typeof runMethods>;

export type RunMethods = AllOf<RunMethodGroups>;
/** Those that `RunStore` has. */
export type AskedRunMethods = AllOf<Omit<RunMethodGroups, 'step'>>;

/** So that the run opens anywhere, a read-only disk included: in WAL mode SQLite would want to write beside it. */
function leaveOneFile(db: Database.Database): void {
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('journal_mode = DELETE');
  } catch {
    // Another program is just reading the run, or the disk is full: what is not in run.db yet stays in the WAL beside it.
  }
}
