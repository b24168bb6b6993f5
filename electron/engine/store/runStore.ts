import { join, resolve } from 'node:path';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { sizeOf } from '../system/runFiles.ts';
import type { AskedRunMethods, RunMethodGroups, RunMethods } from './runDatabase.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { CheckedRuns, stampOf } from './checkedRuns.ts';
import { StoreThread, OPENED_TO_LOOK, type Asked } from './storeThread.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import { isActive } from '../../contract/runState.ts';
import type { Plan } from '../../contract/plan.ts';
import type { QueryAnswer } from '../../contract/rpc/results.ts';
import type { TablesPrepared, TablesWritten } from '../results/types.ts';
import type { FileStamps } from './checkedFiles.ts';
import { queryInProcess, type QueryQuestion, type StartModule } from './duckdb/queryProcess.ts';
import type { RunDescription } from './types.ts';

/**
 * The database of one run, `run.db` in its folder. Every method is answered by the store's own threads and
 * rejects with AppFailure (disk_full, folder_gone, folder_unreadable, folder_unwritable, run_damaged, internal). Writing calls
 * are executed in the order made; each is one transaction, which is on disk when its promise resolves, and
 * rejects with run_locked if the run was opened read-only. A reading call sees all writes resolved before it.
 * Results of an unfinished run are those of the records whose frames are all computed.
 */
export interface RunStore extends Asked<AskedRunMethods> {
  readonly folder: string;
  readonly readOnly: boolean;
  /** Runs the user's SQL query in a process that ends with it. */
  queryResults(question: QueryQuestion, seconds: number): Promise<QueryAnswer>;
  /**
   * Compares everything stored with its digests and writes every table that needs only run.db: all of
   * RESULT_FILES but viral_sequences.fna and run.json. Rejects without any table if anything is damaged, a
   * part is still pending, or a record lacks frames. `meanwhile` is called, and awaited, as soon as no damage
   * was found.
   */
  writeTables(meanwhile?: () => Promise<void>): Promise<TablesWritten>;
  /** Checkpoints and ends the threads. A second call is harmless. */
  close(): Promise<void>;
}

export interface OpenRunStoreOptions {
  /**
   * The file that starts the store's threads: store/hostEntry.ts, or a bundle of it.
   */
  hostEntry: URL;
  /** Creates the run; rejects with folder_has_run if there is one. */
  create?: { plan: Plan; description: RunDescription };
  /** Opens it read-only, also while another engine computes the run. Writing calls reject. */
  readOnly?: boolean;
  /** Starts no thread for readers, as of a run that is created and closed again. */
  writesOnly?: boolean;
  /** Starts the processes of queries; without it, this program's own Node does. */
  startModule?: StartModule | undefined;
  /** Known stamps of runs that were open before; without it, only of those that this process had open. */
  checkedRuns?: CheckedRuns | undefined;
  /** Aborted when the program is being closed: no database is opened after that. */
  closing?: AbortSignal | undefined;
}

/**
 * Opens a run. When it is opened for writing, attempts left open by a dead engine end as `interrupted`.
 * Rejects with folder_not_a_run, run_too_new, run_damaged, folder_unreadable, folder_unwritable. Take the run lock first
 * (runFolder.ts).
 */
export async function openRunStore(
  folder: string,
  {
    hostEntry,
    create,
    readOnly = false,
    writesOnly = false,
    closing,
    startModule,
    checkedRuns = CHECKED_HERE,
  }: OpenRunStoreOptions,
): Promise<RunStore> {
  const at = resolve(folder);
  const query: AskProcess = (question, sound, { seconds, signal }) =>
    queryInProcess(
      { folder: at, question, sound },
      { module: hostEntry, start: startModule, seconds, signal },
    );
  // Opened beside another connection, which has checked the database.
  const openReader = (): Promise<RunThread> =>
    StoreThread.open(hostEntry, { store: 'run', role: 'reader', folder: at, known: true }, { closing });
  if (readOnly)
    return runStore(at, { reader: await openToLook(hostEntry, at, checkedRuns, closing), openReader, query });
  const task = { store: 'run', role: 'writer', folder: at, create: create ?? null } as const;
  const writer: RunThread = await StoreThread.open(hostEntry, task, { limitMs: openLimit(at), closing });
  // Under the run's lock, only this process has opened and closed it, so the database is as this program left
  // it.
  const closed = (): void => checkedRuns.add(at, stampOf(at));
  if (writesOnly || writer.journal === 'rollback') return runStore(at, { writer, closed });
  try {
    return runStore(at, { reader: await openReader(), writer, openReader, query, closed });
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  }
}

type RunThread = StoreThread<RunMethods>;

/** Used if the caller keeps no list of checked runs. */
const CHECKED_HERE = new CheckedRuns();

async function openToLook(
  hostEntry: URL,
  folder: string,
  checkedRuns: CheckedRuns,
  closing?: AbortSignal,
): Promise<RunThread> {
  const stamp = stampOf(folder);
  const task = { store: 'run', role: 'reader', folder, known: checkedRuns.knows(folder) } as const;
  const reader: RunThread = await StoreThread.open(hostEntry, task, { limitMs: openLimit(folder), closing });
  checkedRuns.add(folder, stamp);
  return reader;
}

const OPEN_MS = 60_000;
const LONGEST_OPEN_MS = 1_800_000;
/** The speed of the slowest disks. */
const BYTES_PER_MS = 5_000;

function openLimit(folder: string): number {
  return Math.min(LONGEST_OPEN_MS, OPEN_MS + sizeOf(join(folder, RUN_DATABASE)) / BYTES_PER_MS);
}

/** How long a query may delay closing a reader: nobody needs its answer any more. */
const CLOSE_READER_MS = 2_000;

/**
 * How long somebody who looks at a computing run waits for results to be derived; the rest is there at the
 * next look.
 */
const LOOK_MS = 2_000;
const DERIVE_SLICE_MS = 100;
/** Fewer records are read in a moment. */
const RECORDS_WORTH_A_THREAD = 50_000;

interface RunThreads {
  reader?: RunThread;
  writer?: RunThread;
  openReader?: () => Promise<RunThread>;
  query?: AskProcess;
  closed?: () => void;
}

type AskProcess = (
  question: QueryQuestion,
  sound: FileStamps,
  limits: { seconds: number; signal: AbortSignal },
) => ReturnType<typeof queryInProcess>;

type Ask = (...args: unknown[]) => Promise<unknown>;
type Groups = Exclude<keyof RunMethodGroups, 'step'>;

/**
 * Without a reader the writer answers everything: on network disks only one connection may have the database
 * open.
 */
function runStore(folder: string, { reader, writer, openReader, query, closed }: RunThreads): RunStore {
  const answering = reader ?? writer;
  const writing = writer ?? reader;
  if (!answering || !writing) throw new Error('A run has at least one thread.');

  /** Threads that were started for one query. */
  const apart = new Set<RunThread>();
  let closing: Promise<void> | null = null;
  const isClosing = (): boolean => closing !== null;
  const queriesEnd = new AbortController();
  /** Files that queries found sound. */
  let sound: FileStamps = {};

  async function inOwnThread<Answer>(
    open: () => Promise<RunThread>,
    ask: (own: RunThread) => Promise<Answer>,
  ): Promise<Answer> {
    const own = await open();
    apart.add(own);
    try {
      if (isClosing()) await own.stop();
      return await ask(own);
    } finally {
      apart.delete(own);
      await own.close(CLOSE_READER_MS).catch(() => undefined);
    }
  }

  /**
   * First derives results that an unfinished run lacks: for a limited time, or completely. Nobody looks again
   * at a run at rest, so its results must be all that there are.
   */
  async function derive(limitMs: number): Promise<void> {
    // It works in slices, so that the thread answers others in between. The first call loads DuckDB, which
    // does not count.
    if (await answering!.call('deriveResults', DERIVE_SLICE_MS)) return;
    const { state } = await answering!.call('loadRun');
    const until = performance.now() + (isActive(state) ? limitMs : Infinity);
    while (!(await answering!.call('deriveResults', DERIVE_SLICE_MS)) && performance.now() < until);
  }
  const derived =
    (limitMs: number) =>
    (name: string): Ask =>
    async (...args) => {
      await derive(limitMs);
      return answering.method(name)(...args);
    };
  const ways: Record<Groups, (name: string) => Ask> = {
    read: (name) => answering.method(name),
    readDerived: derived(LOOK_MS),
    readAllDerived: derived(Infinity),
    readApart:
      (name) =>
      async (...args) => {
        const { records } = await answering.call('counts');
        if (!openReader || !writer || records < RECORDS_WORTH_A_THREAD)
          return answering.method(name)(...args);
        return inOwnThread(openReader, (own) => own.method(name)(...args));
      },
    // A thread that was opened read-only refuses.
    write: (name) => writing.method(name),
  };
  const methods = Object.entries(ways).flatMap(([group, way]) =>
    (answering.names[group] ?? []).map((name) => [name, way(name)]),
  );

  async function close(): Promise<void> {
    queriesEnd.abort();
    // The reader closes first: the writer can only clean up when it is alone.
    try {
      await Promise.all([reader?.close(CLOSE_READER_MS), ...[...apart].map((own) => own.stop())]);
    } finally {
      await writer?.close();
    }
    closed?.();
  }

  return {
    // The names are those of the methods whose types these are.
    ...(Object.fromEntries(methods) as Asked<AskedRunMethods>),
    folder,
    readOnly: writer === undefined,
    queryResults: async (question, seconds) => {
      if (!query)
        throw appFailure(
          'run_locked',
          'A run on a network disk takes no queries while it is being worked on.',
        );
      const known = { ...(await answering.call('soundFiles')), ...sound };
      const found = await query(question, known, { seconds, signal: queriesEnd.signal });
      sound = { ...sound, ...found.sound };
      return found.answer;
    },
    writeTables: async (meanwhile) => {
      if (!writer) throw new AppFailure(OPENED_TO_LOOK);
      return writeResults(writer, openReader ?? null, meanwhile);
    },
    close: () => (closing ??= close()),
  };
}

/** Writing the tables of this many frames takes about as long as starting a thread. */
export const FRAMES_WORTH_A_THREAD = 50_000;

/**
 * Compares everything stored with its digests and writes the tables. For large runs this happens at the same
 * time in three threads beside the writing one; tables appear, and `meanwhile` is called, only if nothing is
 * damaged. If `openReader` is null because only one connection may have the database open, and for small
 * runs, they happen in turn. A run that is cut off in between is not done, and writes everything again. After
 * a failure, nothing is still running when the promise settles.
 */
export async function writeResults(
  writer: RunThread,
  openReader: (() => Promise<RunThread>) | null,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<TablesWritten> {
  const begun = performance.now();
  const { frames } = await writer.call('counts');
  const written =
    openReader && frames.total >= FRAMES_WORTH_A_THREAD
      ? await writeAtOnce(openReader, meanwhile)
      : await writeInTurn(writer, meanwhile);
  return { ...written, files: inFixedOrder(written.files), seconds: secondsSince(begun) };
}

async function writeInTurn(writer: RunThread, meanwhile: () => Promise<void>): Promise<TablesPrepared> {
  await writer.call('refuseDamage');
  const [written] = await allSettled([writer.call('writeTables'), meanwhile()]);
  return written;
}

async function writeAtOnce(
  openReader: () => Promise<RunThread>,
  meanwhile: () => Promise<void>,
): Promise<TablesPrepared> {
  const readers: RunThread[] = [];
  const open = async (): Promise<RunThread> => {
    const reader = await openReader();
    readers.push(reader);
    return reader;
  };
  try {
    const [checked, ofChunks, ofSequences] = [await open(), await open(), await open()];
    const sound = checked.call('refuseDamage');
    const sorted = sound.then(() => checked.call('prepareSortedTable'));
    const chunks = ofChunks.call('prepareChunkTables');
    const sequences = ofSequences.call('prepareSequenceTables');
    const all = [chunks, sorted, sequences] as const;
    const tables = Promise.all(all).then(async ([{ counts, files }, ...more]) => {
      await Promise.all(readers.map((reader) => reader.call('publishTables')));
      return { counts, files: { ...files, ...more[0].files, ...more[1].files } };
    });
    try {
      // What is damaged can fail in other ways in the threads that write it; the first of these failures is reported.
      const [, written] = await allSettled([sound, tables, sound.then(meanwhile), ...all]);
      return written;
    } catch (error) {
      await Promise.all(readers.map((reader) => reader.call('discardTables')));
      throw error;
    }
  } finally {
    for (const reader of readers) await reader.close();
  }
}

const secondsSince = (begun: number): number => (performance.now() - begun) / 1000;

/** In the order in which users look for them. */
function inFixedOrder(files: TablesWritten['files']): TablesWritten['files'] {
  const order = Object.values<string>(RESULT_FILES);
  return Object.fromEntries(
    Object.entries(files).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** Like Promise.all, but rejects only once all of them have ended. */
async function allSettled<Values extends readonly unknown[]>(promises: {
  [K in keyof Values]: Promise<Values[K]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
