import type Database from 'better-sqlite3';
import { resultQueryMethods } from './results/queries.ts';
import { resultQuery } from '../duckdb/resultQuery.ts';
import { resultSource } from '../duckdb/resultSource.ts';
import { sequenceQueryMethods } from '../duckdb/sequenceQueries.ts';
import { tableMethods } from './results/tables/tables.ts';
import { viralSoFarMethods } from './results/derive/viralSoFar.ts';
import { adoptRun, type AdoptedBefore } from './parts/adoptRun.ts';
import { checkPages } from './checkDatabase.ts';
import { attemptWriteMethods } from './parts/attempts.ts';
import { readDeviceMeasures, readDeviceSummaries, readTimings } from './telemetry/runTimings.ts';
import { readCounts, readInputProgress } from './progress.ts';
import { eventPageMethods, telemetryReadMethods, telemetryWriteMethods } from './telemetry/telemetry.ts';
import { prepareIntakeMethods } from './parts/prepareIntake.ts';
import {
  readResultFiles,
  resultFileMethods,
  readDevices,
  readInputs,
  readLeftOut,
  readPlan,
  readProblems,
  readRun,
  runRowMethods,
} from './runRows.ts';
import { findDamage, refuseDamage, refuseDamagedPlan, verifyPendingParts } from './parts/damage.ts';
import { partFailureMethods, partSplitMethods } from './parts/partFailure.ts';
import { partIntakeMethods } from './parts/partIntake.ts';
import { partPageMethods, partReadMethods } from './parts/partRows.ts';
import { shareMethods, shareParts } from './parts/shares.ts';
import type { AllOf } from '../storeProtocol.ts';
import type { StoredRun } from '../types.ts';
import type { InputProblem } from '../../../contract/protocol/index.ts';

/**
 * All methods on a run's database, grouped by how they are called. `RunStore` takes its types and names from
 * this single list.
 * `known`: this process has already checked the run, or created it.
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
    /** Run by the reading thread, if there is one. */
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
      /** Sequences called virus among those scored so far; once a run is done, its results have them. */
      ...viralSoFarMethods(db),
      /** Reads all samples, so it is used when a run has ended or on request. */
      deviceMeasures: () => readDeviceMeasures(db),
      /** Rejects with run_damaged if the plan differs from that of the run's creation. */
      refuseDamagedPlan: db.transaction(() => refuseDamagedPlan(db)),
      /** What SQLite finds wrong with the whole database; null if nothing. */
      checkPages: () => checkPages(db),
      /** The result files by name, as last written; none before that. */
      resultFiles: () => readResultFiles(db),
      ...partReadMethods(db),
      /** All waiting parts, as the run's shares get them. */
      shareParts: () => shareParts(db),
      ...telemetryReadMethods(db),
      ...eventPageMethods(db),
      ...partPageMethods(db),
      ...chunks,
    },
    /** Like `read`, once the results of an unfinished run are derived, as far as possible in a moment. */
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
    /** Like `read`, once all results are derived. */
    readAllDerived: whole,
    /** Reads the whole run: in a thread of its own if the run is large. */
    readApart: {
      /** Keys of pending parts whose file is missing or has another hash. */
      verifyPendingParts: () => verifyPendingParts(db, folder),
      /** Compares everything stored with its digests. */
      findDamage: db.transaction(() => findDamage(db)),
    },
    /**
     * Run by the single writing thread, in the order requested. Each is one transaction, on disk when it is
     * answered.
     */
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
    /** Steps of operations that the store runs in several threads. */
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
/** The methods of `RunStore`. */
export type AskedRunMethods = AllOf<Omit<RunMethodGroups, 'step'>>;

/** Lets the run open anywhere, also on a read-only disk: in WAL mode SQLite needs to write beside it. */
function leaveOneFile(db: Database.Database): void {
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.pragma('journal_mode = DELETE');
  } catch {
    // Another program is reading the run, or the disk is full: what is not in run.db yet stays in the WAL
    // beside it.
  }
}
