import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { Plan } from '../../contract/plan.ts';
import { RUN_DATABASE as RUN_DATABASE_FILE } from '../../contract/folderNames.ts';
import { refuseLinks } from './runFolder.ts';
import { replaceFile, syncFolder } from '../system/replaceFile.ts';
import { somethingAt } from '../system/runFiles.ts';
import { checkDatabase, checkDatabaseFiles, distrust, checkPages } from './sqlite/checkDatabase.ts';
import { isEmptyDatabase, migrate } from './sqlite/database.ts';
import { networkFileSystem } from './networkFileSystem.ts';
import { sealPlan } from './sqlite/parts/digests.ts';
import {
  insertRun,
  readResultFiles,
  resultFileMethods,
  readDevices,
  readInputs,
  readLabels,
  readLeftOut,
  readPlan,
  readProblems,
  readRun,
  runRowMethods,
} from './sqlite/runRows.ts';
import { RUN_DATABASE } from './sqlite/runSchema.ts';
import { CheckedFiles, type FileStamps } from './checkedFiles.ts';
import { OPENED_TO_LOOK, type Journal, type AllOf } from './storeThread.ts';
import type {
  AttemptEnd,
  AttemptOutcome,
  AttemptStart,
  Milliseconds,
  RunDescription,
  StoredRun,
} from './types.ts';
import { resultQueryMethods } from './sqlite/results/queries.ts';
import { resultQuery } from './duckdb/resultQuery.ts';
import { resultSource, type RunFacts } from './duckdb/resultSource.ts';
import { provisionalSequences } from './sqlite/results/derive/provisionalSequences.ts';
import { sequenceLineMethods } from './duckdb/sequenceLines.ts';
import { sequenceQueryMethods } from './duckdb/sequenceQueries.ts';
import { tableMethods } from './tables/tables.ts';
import { shareStrataMethods } from './sqlite/results/derive/shareStrata.ts';
import { adoptRun, type AdoptedBefore } from './sqlite/parts/adoptRun.ts';
import { readDeviceMeasures, readDeviceSummaries, readTimings } from './sqlite/telemetry/runTimings.ts';
import { readCounts, readInputProgress } from './sqlite/progress.ts';
import {
  eventPageMethods,
  telemetryReadMethods,
  telemetryWriteMethods,
} from './sqlite/telemetry/telemetry.ts';
import { prepareIntakeMethods } from './sqlite/parts/prepareIntake.ts';
import { findDamage, refuseDamage, refuseDamagedPlan, verifyPendingParts } from './sqlite/parts/damage.ts';
import { partFailureMethods, partSplitMethods } from './sqlite/parts/partFailure.ts';
import { partIntakeMethods } from './sqlite/parts/partIntake.ts';
import { CheckedRows } from './sqlite/parts/checkedRows.ts';
import { partReadMethods } from './sqlite/parts/partRows.ts';
import { shareMethods, shareParts } from './sqlite/parts/shares.ts';
import type { InputProblem } from '../../contract/protocol/index.ts';

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
  return { groups: runMethods(db, folder, new CheckedFiles(folder)), journal };
}

/** Opens run.db for a reading thread, beside a writer of this or another process. */
export function openRunReader(folder: string, known = false, sound: FileStamps = {}): RunMethodGroups {
  const db = openExisting(folder, { readonly: true, known });
  db.pragma('cache_size = -4096');
  const groups = runMethods(db, folder, new CheckedFiles(folder, sound));
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
  if (!somethingAt(path)) throw appFailure('folder_not_a_run', message('run.no_database', { folder }));
  checkDatabaseFiles(folder, RUN_DATABASE_FILE);
  const db = new Database(path, { readonly, fileMustExist: true });
  try {
    distrust(db);
    if (isEmptyDatabase(db)) throw appFailure('folder_not_a_run', message('run.empty_database', { folder }));
    checkDatabase(db, RUN_DATABASE, known);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Null if there is none, or none any more: then everything is computed here. */
function openEarlier({ earlier }: Plan): Database.Database | null {
  try {
    return earlier === undefined ? null : openExisting(earlier, { readonly: true, known: false });
  } catch {
    return null;
  }
}

/** Created under another name until it is complete: a folder has either a complete run.db or none. */
function createRunDatabase(folder: string, path: string, run: NewRun): void {
  mkdirSync(folder, { recursive: true });
  if (somethingAt(path)) throw appFailure('folder_has_run', `${folder} holds a run.db already.`);
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

/**
 * All methods on a run's database, grouped by how they are called. `RunStore` takes its types and names from
 * this single list.
 */
function runMethods(db: Database.Database, folder: string, files: CheckedFiles) {
  const checked = new CheckedRows(db);
  const facts: RunFacts = {
    labels: () => readLabels(db),
    finished: () => {
      const { state, prepared } = readRun(db);
      return state.phase === 'done' ? (prepared?.records ?? 0) : null;
    },
    written: (name) => readResultFiles(db)[name],
    ...provisionalSequences(db, checked),
  };
  const source = resultSource(folder, facts, files);
  const chunks = resultQueryMethods(db, checked);
  const queries = sequenceQueryMethods(source);
  const { sequence, inputSummaries, findSequences, countPredictions, columnsWithValues, ...sequences } =
    queries;
  const { scoreBins, sequencesOf, lengthBins, ...whole } = sequences;
  const { writeTextTable, ...tables } = tableMethods(db, folder);
  const { openLines, closeAllLines, ...lines } = sequenceLineMethods(source, queries);
  return {
    /** Run by the reading thread, if there is one. */
    read: {
      loadRun: db.transaction((): StoredRun => {
        checked.plan();
        return {
          ...readRun(db),
          plan: readPlan(db),
          devices: readDevices(db),
          inputs: readInputs(db),
          problems: readProblems(db),
          leftOut: readLeftOut(db),
          counts: readCounts(db),
        };
      }),
      counts: db.transaction(() => readCounts(db)),
      inputProgress: db.transaction(() => readInputProgress(db)),
      timings: db.transaction(() => readTimings(db)),
      deviceSummaries: () => readDeviceSummaries(db),
      /** Sequences called virus among those scored so far; once a run is done, its results have them. */
      ...shareStrataMethods(db, checked),
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
      ...chunks,
      ...lines,
    },
    /** Like `read`, once the results of an unfinished run are derived, as far as possible in a moment. */
    readDerived: {
      sequence,
      inputSummaries,
      findSequences,
      countPredictions,
      columnsWithValues,
      scoreBins,
      sequencesOf,
      lengthBins,
    },
    /** Like `read`, once all results are derived. */
    readAllDerived: { ...whole, openLines },
    /** Reads the whole run: in a thread of its own if the run is large. */
    readApart: {
      /** Keys of pending parts whose file is missing or has another hash. */
      verifyPendingParts: () => verifyPendingParts(db, folder),
      /** Compares everything stored with its digests. */
      findDamage: db.transaction(() => findDamage(db)),
      writeTextTable,
    },
    /**
     * Run by the single writing thread, in the order requested. Each is one transaction, on disk when it is
     * answered.
     */
    write: {
      ...runRowMethods(db),
      ...resultFileMethods(db),
      ...prepareIntakeMethods(db, folder, () => openEarlier(readPlan(db))),
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
      answerQuery: resultQuery(folder, source, files),
      /** The files that were found sound, for another process that reads them. */
      soundFiles: () => files.sound,
      refuseDamage: db.transaction(() => refuseDamage(db)),
      ...tables,
      close: async (): Promise<void> => {
        if (!db.readonly) leaveOneFile(db);
        db.close();
        await closeAllLines();
        await source.close();
      },
    },
  };
}
export type RunMethodGroups = ReturnType<typeof runMethods>;

export type RunMethods = AllOf<RunMethodGroups>;
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

/** Outcomes that leave the part as if the attempt had never happened. */
const COSTLESS: readonly AttemptOutcome[] = ['recalled', 'interrupted'];

/** Ends attempts that a dead engine left open; their parts are pending again. */
function closeOpenAttempts(db: Database.Database, now: Milliseconds): void {
  db.transaction(() => {
    db.prepare(
      `UPDATE part SET state = 'pending', device = NULL, attempts = max(0, attempts - 1) WHERE state = 'assigned'`,
    ).run();
    db.prepare(`UPDATE attempt SET ended_at = ?, outcome = 'interrupted' WHERE ended_at IS NULL`).run(now);
  })();
}

function attemptWriteMethods(db: Database.Database) {
  const assign = db.prepare(
    `UPDATE part SET state = 'assigned', device = ?, attempts = attempts + 1 WHERE key = ? AND state = 'pending'`,
  );
  const insert = db.prepare(
    'INSERT INTO attempt (part, device, worker_pid, started_at, log) VALUES (?, ?, ?, ?, ?)',
  );
  const end = db.prepare<[number, string, string | null, string | null, number], string>(`
    UPDATE attempt SET ended_at = ?, outcome = ?, code = ?, message = ? WHERE attempt = ? AND ended_at IS NULL
    RETURNING part`);
  const release = db.prepare(
    `UPDATE part SET state = 'pending', device = NULL, attempts = max(0, attempts - ?)
     WHERE key = ? AND state = 'assigned'`,
  );
  return {
    startAttempt: db.transaction((start: AttemptStart): number | null => {
      if (assign.run(start.device, start.part).changes === 0) return null;
      const { part, device, workerPid, startedAt, log } = start;
      return Number(insert.run(part, device, workerPid, Math.round(startedAt), log).lastInsertRowid);
    }),
    endAttempt: db.transaction((attempt: number, how: AttemptEnd): void => {
      const { outcome, endedAt, code, message } = how;
      const ended = end.pluck().get(Math.round(endedAt), outcome, code ?? null, message ?? null, attempt);
      if (ended === undefined || outcome === 'done' || outcome === 'failed') return;
      release.run(COSTLESS.includes(outcome) ? 1 : 0, ended);
    }),
  };
}
