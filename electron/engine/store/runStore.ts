import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, AppFailure } from '../../contract/errors.ts';
import { sizeOf } from '../system/runFiles.ts';
import type { AskedRunMethods, RunMethodGroups } from './sqlite/runMethods.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { CheckedRuns, stampOf } from './checkedRuns.ts';
import { StoreThread } from './storeThread.ts';
import { OPENED_TO_LOOK, type Asked } from './storeProtocol.ts';
import { writeResults, type RunThread } from './resultThreads.ts';
import type { OpenRunStore, RunStore } from './runStoreFace.ts';

export const openRunStore: OpenRunStore = async (
  folder,
  { hostEntry, create, readOnly = false, closing, checkedRuns = CHECKED_HERE },
) => {
  const at = resolve(folder);
  // Opened beside another connection, which has checked the database.
  const openReader = (): Promise<RunThread> =>
    StoreThread.open(hostEntry, { store: 'run', role: 'reader', folder: at, known: true }, { closing });
  if (readOnly)
    return runStore(at, { reader: await openToLook(hostEntry, at, checkedRuns, closing), openReader });
  const task = { store: 'run', role: 'writer', folder: at, create: create ?? null } as const;
  const writer: RunThread = await StoreThread.open(hostEntry, task, { limitMs: openLimit(at), closing });
  // Under the run's lock, only this process has opened and closed it, so the database is as this program left
  // it.
  const closed = (): void => checkedRuns.add(at, stampOf(at));
  if (writer.journal === 'rollback') return runStore(at, { writer, closed });
  try {
    return runStore(at, { reader: await openReader(), writer, openReader, closed });
  } catch (error) {
    await writer.close().catch(() => undefined);
    throw error;
  }
};

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
/** A cancelled query stops within this time. */
const QUERY_GRACE_S = 5;
/** Fewer records are read in a moment. */
const RECORDS_WORTH_A_THREAD = 50_000;

interface RunThreads {
  reader?: RunThread;
  writer?: RunThread;
  openReader?: () => Promise<RunThread>;
  closed?: () => void;
}

type Ask = (...args: unknown[]) => Promise<unknown>;
type Groups = Exclude<keyof RunMethodGroups, 'step'>;

/**
 * Without a reader the writer answers everything: on network disks only one connection may have the database
 * open.
 */
function runStore(folder: string, { reader, writer, openReader, closed }: RunThreads): RunStore {
  const answering = reader ?? writer;
  const writing = writer ?? reader;
  if (!answering || !writing) throw new Error('A run has at least one thread.');

  /** Threads that were started for one query. */
  const apart = new Set<RunThread>();
  let closing: Promise<void> | null = null;
  const isClosing = (): boolean => closing !== null;

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

  /** First derives results that an unfinished run lacks: for a limited time, or completely. */
  async function derive(limitMs: number): Promise<void> {
    // It works in slices, so that the thread answers others in between. The first call loads DuckDB, which
    // does not count.
    if (await answering!.call('deriveResults', DERIVE_SLICE_MS)) return;
    const until = performance.now() + limitMs;
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
    queryResults: async (question) => {
      if (!openReader)
        throw new AppFailure(
          appError('run_locked', 'A run on a network disk takes no queries while it is being worked on.'),
        );
      return inOwnThread(openReader, async (own) => {
        while (!(await own.call('deriveResults', DERIVE_SLICE_MS)));
        const limit = sleep((question.seconds + QUERY_GRACE_S) * 1000, undefined, { ref: false }).then(() => {
          throw new AppFailure(appError('usage', 'The query did not end in time.'));
        });
        return Promise.race([own.call('answerQuery', question), limit]);
      });
    },
    writeTables: async (meanwhile) => {
      if (!writer) throw new AppFailure(OPENED_TO_LOOK);
      return writeResults(writer, openReader ?? null, meanwhile);
    },
    close: () => (closing ??= close()),
  };
}
