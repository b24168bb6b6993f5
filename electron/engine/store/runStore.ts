import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, AppFailure } from '../../contract/errors.ts';
import type { QueryAnswer } from '../../contract/rpc/query.ts';
import { sizeOf } from '../files/runFiles.ts';
import type { QueryQuestion } from './duckdb/resultQuery.ts';
import type { RunReadMethods, RunWriteMethods } from './sqlite/runMethods.ts';
import { RUN_DATABASE } from './runFolder.ts';
import { CheckedRuns, stampOf } from './checkedRuns.ts';
import { StoreThread } from './storeThread.ts';
import { writeResults, type Reader, type Writer } from './resultThreads.ts';
import type { OpenRunStore, RunStore } from './runStoreFace.ts';

export const openRunStore: OpenRunStore = async (
  folder,
  { hostEntry, create, readOnly = false, closing, checkedRuns = CHECKED_HERE },
) => {
  const at = resolve(folder);
  // Beside another connection, which has checked the database.
  const openReader = (): Promise<Reader> =>
    StoreThread.open(hostEntry, { store: 'run', role: 'reader', folder: at, known: true }, { closing });
  if (readOnly) return runStore(at, await openToLook(hostEntry, at, checkedRuns, closing), null, openReader);
  const task = { store: 'run', role: 'writer', folder: at, create: create ?? null } as const;
  const writer: Writer = await StoreThread.open(hostEntry, task, { limitMs: openLimit(at), closing });
  // Opened and closed here alone, by the lock of the run: what it is then, it has been left as by this program.
  const closed = (): void => checkedRuns.add(at, stampOf(at));
  if (writer.journal === 'rollback') return runStore(at, null, writer, null, closed);
  try {
    return runStore(at, await openReader(), writer, openReader, closed);
  } catch (error) {
    await writer.close('closeWriter').catch(() => undefined);
    throw error;
  }
};

/** Where the caller keeps no list of checked runs. */
const CHECKED_HERE = new CheckedRuns();

async function openToLook(
  hostEntry: URL,
  folder: string,
  checkedRuns: CheckedRuns,
  closing?: AbortSignal,
): Promise<Reader> {
  const stamp = stampOf(folder);
  const task = { store: 'run', role: 'reader', folder, known: checkedRuns.knows(folder) } as const;
  const reader: Reader = await StoreThread.open(hostEntry, task, { limitMs: openLimit(folder), closing });
  checkedRuns.add(folder, stamp);
  return reader;
}

const OPEN_MS = 60_000;
const LONGEST_OPEN_MS = 1_800_000;
/** What the slowest disks give. */
const BYTES_PER_MS = 5_000;

function openLimit(folder: string): number {
  return Math.min(LONGEST_OPEN_MS, OPEN_MS + sizeOf(join(folder, RUN_DATABASE)) / BYTES_PER_MS);
}

/** How long a question may hold up closing a reader: its answer is of no use any more. */
const CLOSE_READER_MS = 2_000;

/** How long somebody who looks at a run at work waits for results to be derived; the rest is there when they look again. */
const LOOK_MS = 2_000;
const DERIVE_SLICE_MS = 100;
/** Within which a query that is to stop does. */
const QUERY_GRACE_S = 5;
/** Fewer are read in a moment. */
const RECORDS_WORTH_A_THREAD = 50_000;

/** Without a reader the writer answers everything: on network disks only one connection may have the database open. */
function runStore(
  folder: string,
  reader: Reader | null,
  writer: Writer | null,
  openReader: (() => Promise<Reader>) | null = null,
  closed: () => void = () => undefined,
): RunStore {
  const read =
    <Name extends keyof RunReadMethods>(name: Name) =>
    (...args: Parameters<RunReadMethods[Name]>) =>
      reader ? reader.call(name, ...args) : toWrite(writer).call(name, ...args);
  const write =
    <Name extends keyof RunWriteMethods>(name: Name) =>
    async (...args: Parameters<RunWriteMethods[Name]>) =>
      toWrite(writer).call(name, ...args);

  const apart = new Set<Reader>();
  /** What reads all of a large run is asked of a thread of its own: others are answered meanwhile. */
  const readApart =
    <Name extends keyof RunReadMethods>(name: Name) =>
    async (...args: Parameters<RunReadMethods[Name]>) => {
      const { records } = await read('counts')();
      if (openReader === null || writer === null || records < RECORDS_WORTH_A_THREAD)
        return read(name)(...args);
      return inOwnThread(openReader, (own) => own.call(name, ...args));
    };
  async function inOwnThread<Answer>(
    open: () => Promise<Reader>,
    ask: (own: Reader) => Promise<Answer>,
  ): Promise<Answer> {
    const own = await open();
    apart.add(own);
    try {
      if (isClosing()) await own.stop();
      return await ask(own);
    } finally {
      apart.delete(own);
      await own.close('closeReader', CLOSE_READER_MS).catch(() => undefined);
    }
  }
  /** In a thread that ends with the query: its DuckDB is locked for anything else, and a query that does not stop goes with it. */
  async function queryResults(question: QueryQuestion): Promise<QueryAnswer> {
    if (openReader === null)
      throw new AppFailure(
        appError('run_locked', 'A run on a network disk takes no queries while it is being worked on.'),
      );
    return inOwnThread(openReader, async (own) => {
      while (!(await own.call('deriveResults', DERIVE_SLICE_MS)));
      const limit = sleep((question.seconds + QUERY_GRACE_S) * 1000, undefined, { ref: false }).then(() => {
        throw new AppFailure(appError('usage', 'The query did not end in time.'));
      });
      return Promise.race([own.call('queryResults', question), limit]);
    });
  }

  /** Derives first what a run that is not done lacks of its results: for a moment only, or all of it. */
  async function derive(limitMs: number): Promise<void> {
    // A little at a time, so that the thread answers others in between. The first time it loads DuckDB, which does not count.
    if (await read('deriveResults')(DERIVE_SLICE_MS)) return;
    const until = performance.now() + limitMs;
    while (!(await read('deriveResults')(DERIVE_SLICE_MS)) && performance.now() < until);
  }
  let closing: Promise<void> | null = null;
  const isClosing = (): boolean => closing !== null;
  const afterDeriving =
    (limitMs: number) =>
    <Name extends keyof RunReadMethods>(name: Name) =>
    async (...args: Parameters<RunReadMethods[Name]>): Promise<Awaited<ReturnType<RunReadMethods[Name]>>> => {
      await derive(limitMs);
      return read(name)(...args);
    };
  const look = afterDeriving(LOOK_MS);
  const readAll = afterDeriving(Infinity);

  async function close(): Promise<void> {
    // The reader first: the writer can only tidy up when it is alone.
    try {
      await Promise.all([
        reader?.close('closeReader', CLOSE_READER_MS),
        ...[...apart].map((own) => own.stop()),
      ]);
    } finally {
      await writer?.close('closeWriter');
    }
    closed();
  }

  return {
    folder,
    readOnly: writer === null,
    loadRun: read('loadRun'),
    rename: write('rename'),
    annotate: write('annotate'),
    setSamples: write('setSamples'),
    setState: write('setState'),
    saveDevices: write('saveDevices'),
    ingestRecords: write('ingestRecords'),
    registerPart: write('registerPart'),
    addInputProblem: write('addInputProblem'),
    finishInput: write('finishInput'),
    failInput: write('failInput'),
    finishPrepare: write('finishPrepare'),
    invalidatePrepare: write('invalidatePrepare'),
    verifyPendingParts: readApart('verifyPendingParts'),
    findDamage: readApart('findDamage'),
    refuseDamagedPlan: read('refuseDamagedPlan'),
    repairDamage: write('repairDamage'),
    checkPages: read('checkPages'),
    resultFiles: read('resultFiles'),
    saveResultFiles: write('saveResultFiles'),
    pendingParts: read('pendingParts'),
    part: read('part'),
    shareParts: read('shareParts'),
    adoptParts: write('adoptParts'),
    mergeShare: write('mergeShare'),
    partsIn: read('partsIn'),
    embeddingFiles: read('embeddingFiles'),
    attemptsOf: read('attemptsOf'),
    startAttempt: write('startAttempt'),
    endAttempt: write('endAttempt'),
    completePart: write('completePart'),
    failPart: write('failPart'),
    splitPart: write('splitPart'),
    retryFailed: write('retryFailed'),
    skipParts: write('skipParts'),
    counts: read('counts'),
    inputProgress: read('inputProgress'),
    timings: read('timings'),
    deviceSummaries: read('deviceSummaries'),
    viralSoFar: read('viralSoFar'),
    deviceMeasures: read('deviceMeasures'),
    addSamples: write('addSamples'),
    samples: read('samples'),
    sampleSpan: read('sampleSpan'),
    sampleMeans: read('sampleMeans'),
    addEvent: write('addEvent'),
    events: read('events'),
    remarks: read('remarks'),
    pageEvents: read('pageEvents'),
    pageParts: read('pageParts'),
    sequence: look('sequence'),
    chunksOf: read('chunksOf'),
    inputSummaries: look('inputSummaries'),
    findSequences: look('findSequences'),
    countPredictions: look('countPredictions'),
    viralSequences: read('viralSequences'),
    scoreBins: look('scoreBins'),
    writeSelectedRows: readAll('writeSelectedRows'),
    writeViralRows: read('writeViralRows'),
    selectedRows: readAll('selectedRows'),
    sequencesOf: look('sequencesOf'),
    rowsNamed: read('rowsNamed'),
    queryResults,
    scoredChunksOf: read('scoredChunksOf'),
    scoredFramesOf: read('scoredFramesOf'),
    framesOf: read('framesOf'),
    lengthShares: look('lengthShares'),
    lengthScores: look('lengthScores'),
    writeTables: async (meanwhile) => writeResults(toWrite(writer), openReader, meanwhile),
    checkpoint: write('checkpoint'),
    close: () => (closing ??= close()),
  };
}

function toWrite(writer: Writer | null): Writer {
  if (writer) return writer;
  throw new AppFailure(appError('run_locked', 'This run was opened to look only.'));
}
