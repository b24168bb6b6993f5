import { once } from 'node:events';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { appError, AppFailure, type AppError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/plan.ts';
import type { LibraryMethods } from './sqlite/libraryDatabase.ts';
import type { RunDescription } from './types.ts';

type StoreTask =
  | {
      store: 'run';
      role: 'writer';
      folder: string;
      create: { plan: Plan; description: RunDescription } | null;
    }
  /** `known`: this process has checked the database. */
  | { store: 'run'; role: 'reader'; folder: string; known: boolean }
  | { store: 'library'; path: string };

/** `workerData` of a store thread; the key distinguishes it from other threads of the same bundle. */
export interface StoreThreadData {
  virnucproStore: StoreTask;
}

export type Journal = 'wal' | 'rollback';

/** Maps method names to functions on plain data. Arguments and results travel by structured clone. */
type StoreMethods = Record<string, (...args: never[]) => unknown>;

/** The same methods as the engine calls them on the thread. */
export type Asked<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

export type AllOf<Groups> = (
  Groups[keyof Groups] extends infer Methods
    ? Methods extends unknown
      ? (methods: Methods) => void
      : never
    : never
) extends (methods: infer All) => void
  ? All
  : never;

export function allOf<Groups extends Record<string, StoreMethods>>(groups: Groups): AllOf<Groups> {
  return Object.assign({}, ...Object.values(groups)) as AllOf<Groups>;
}

/** The names of a thread's methods, grouped by how they are called. */
type MethodNames = Readonly<Record<string, readonly string[]>>;

interface StoreRequest {
  id: number;
  method: string;
  args: unknown[];
}

/** Asks a thread to end, in addition to its methods. */
const LEAVE = 'leave';

export const OPENED_TO_LOOK = appError('run_locked', 'This run was opened to look only.');

export type StoreReply =
  | { type: 'opened'; journal: Journal; names: MethodNames }
  | { type: 'refused'; error: AppError }
  | { type: 'leaving' }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'error'; id: number; error: AppError };

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (failure: AppFailure) => void;
}

/**
 * Rows of the database live no longer than a page of them; V8 would otherwise take ten times the memory
 * without being faster. A heap that may grow to V8's limit, 4 GB, grows in larger steps than a limited one:
 * 60 MB more for the threads at a run's end.
 */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 1024 };

/** An empty or small database opens within this time on any computer. */
const OPEN_MS = 60_000;
/** A thread ends at once, unless it is working in SQLite, which nothing can interrupt. */
const END_MS = 5_000;
/** A thread receives the request to end within this time, unless it is working. */
const HEAR_MS = 2_000;

/** All running threads. */
const living = new Set<Worker>();

/**
 * Number of threads that have not ended. One that was asked to end is busy in SQLite: only the end of the
 * process stops it.
 */
export function threadsLeft(): number {
  return living.size;
}

function start(hostEntry: URL, task: StoreTask): Worker {
  const workerData: StoreThreadData = { virnucproStore: task };
  const worker = new Worker(hostEntry, {
    workerData,
    resourceLimits: HEAP_LIMITS,
  });
  living.add(worker);
  worker.once('exit', () => living.delete(worker));
  return worker;
}

/**
 * Ends a thread, or gives up on it. A thread that receives the request ends by itself once DuckDB has
 * answered its query: Node ends the whole process if that answer finds its thread terminated. A thread that
 * does not receive it is working itself, and waits for no answer.
 */
async function end(worker: Worker): Promise<void> {
  if (!living.has(worker)) return;
  worker.on('error', () => undefined);
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const hears = new Promise<void>((resolve) => {
    worker.on('message', ({ type }: StoreReply) => {
      if (type === 'leaving') resolve();
    });
  });
  worker.postMessage(LEAVE);
  const wait = (ms: number) => sleep(ms, false as const, { ref: false });
  const isHeard = await Promise.race([Promise.race([hears, exited]).then(() => true), wait(HEAR_MS)]);
  await Promise.race([isHeard ? exited : worker.terminate(), wait(END_MS)]);
}

export function refuseWhenClosing(closing: AbortSignal | undefined): void {
  if (closing?.aborted) throw new AppFailure(PROGRAM_CLOSES);
}

const PROGRAM_CLOSES = appError('usage', 'The program is being closed.');
const OPENS_TOO_SLOWLY = appError(
  'run_damaged',
  'Its database does not open in a time in which any of this program would.',
);

export interface OpeningLimits {
  limitMs?: number;
  /** Once it is aborted, no thread starts, and none that is opening its database continues. */
  closing?: AbortSignal | undefined;
}

/** The engine's side of one store thread: requests go in, and each is answered by a promise. */
export class StoreThread<Methods extends StoreMethods> {
  readonly journal: Journal;
  readonly names: MethodNames;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #ended: AppError | null = null;

  private constructor(worker: Worker, { journal, names }: Extract<StoreReply, { type: 'opened' }>) {
    this.names = names;
    this.#worker = worker;
    this.journal = journal;
    worker.on('message', (reply: StoreReply) => this.#settle(reply));
    worker.on('error', (error: Error) => this.#end(storeEnded(error.stack ?? error.message)));
    worker.on('exit', (code) => this.#end(storeEnded(`exit code ${code}`)));
  }

  /**
   * Starts a thread and waits until its database is open. Rejects with the thread's AppFailure, after
   * `limitMs`, or when the program is being closed; the thread has then been ended.
   */
  static async open<Methods extends StoreMethods>(
    hostEntry: URL,
    task: StoreTask,
    limits: OpeningLimits = {},
  ): Promise<StoreThread<Methods>> {
    refuseWhenClosing(limits.closing);
    const worker = start(hostEntry, task);
    try {
      return await StoreThread.opened<Methods>(worker, limits);
    } catch (error) {
      await end(worker);
      throw error;
    }
  }

  private static async opened<Methods extends StoreMethods>(
    worker: Worker,
    { limitMs = OPEN_MS, closing }: OpeningLimits,
  ): Promise<StoreThread<Methods>> {
    const limit = AbortSignal.timeout(Math.ceil(limitMs));
    const signal = closing ? AbortSignal.any([limit, closing]) : limit;
    const exited = once(worker, 'exit', { signal }).then(([code]) => {
      throw new AppFailure(storeEnded(`exit code ${code}`));
    });
    try {
      const [reply] = (await Promise.race([once(worker, 'message', { signal }), exited])) as [StoreReply];
      if (reply.type === 'opened') return new StoreThread<Methods>(worker, reply);
      throw new AppFailure(reply.type === 'refused' ? reply.error : storeEnded('unexpected first message'));
    } catch (reason) {
      if (closing?.aborted) throw new AppFailure(PROGRAM_CLOSES);
      if (limit.aborted) throw new AppFailure(OPENS_TOO_SLOWLY);
      if (reason instanceof AppFailure) throw reason;
      throw new AppFailure(storeEnded(reason instanceof Error ? String(reason.stack) : String(reason)));
    }
  }

  call<Name extends keyof Methods & string>(
    method: Name,
    ...args: Parameters<Methods[Name]>
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(new AppFailure(this.#ended));
        return;
      }
      const request: StoreRequest = { id: this.#nextId++, method, args };
      // The thread runs the method that this type belongs to.
      const answer = (value: unknown) => resolve(value as Awaited<ReturnType<Methods[Name]>>);
      this.#waiting.set(request.id, { resolve: answer, reject });
      this.#worker.postMessage(request);
    });
  }

  method(name: string): (...args: unknown[]) => Promise<unknown> {
    return (...args) => this.call(name, ...(args as Parameters<Methods[string]>));
  }

  /**
   * Closes the database and ends the thread, even if closing fails: a remaining thread keeps the process from
   * ending. `limitMs`: how long it may still work before it is ended without closing.
   */
  async close(limitMs = Infinity): Promise<void> {
    const closed = this.method('close')();
    try {
      if (limitMs === Infinity) await closed;
      else await Promise.race([closed, sleep(limitMs, undefined, { ref: false })]);
    } finally {
      closed.catch(() => undefined);
      await this.stop();
    }
  }

  /**
   * Ends the thread after its last call, which must have closed the database. Resolves within seconds, even
   * if the thread does not end: see `threadsLeft`.
   */
  async stop(): Promise<void> {
    this.#end(appError('internal', 'The database of the run has been closed.'));
    await end(this.#worker);
  }

  #settle(reply: StoreReply): void {
    if (reply.type !== 'result' && reply.type !== 'error') return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === 'result') waiting?.resolve(reply.value);
    else waiting?.reject(new AppFailure(reply.error));
  }

  #end(error: AppError): void {
    this.#ended ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(new AppFailure(this.#ended));
    this.#waiting.clear();
  }
}

function storeEnded(detail: string): AppError {
  return appError('internal', 'The database thread ended unexpectedly.', { detail });
}

interface OpenedStore {
  groups: Record<string, StoreMethods>;
  journal: Journal;
}

/** What a store thread needs of its databases, which the engine's own thread must not load. */
interface ThreadDatabases {
  open: (task: StoreTask) => OpenedStore;
  describeError: (error: unknown, folder: string) => AppError;
}

/** The thread's side: opens its database and answers one request after the other. */
export function serveStore({ open, describeError }: ThreadDatabases): void {
  const port = parentPort;
  const { virnucproStore: task } = workerData as StoreThreadData;
  if (!port) throw new Error('serveStore() belongs into a thread started by the store.');
  const reply = (message: StoreReply) => port.postMessage(message);
  const folder = task.store === 'run' ? task.folder : dirname(task.path);

  let store: OpenedStore;
  try {
    store = open(task);
  } catch (error) {
    reply({ type: 'refused', error: describeError(error, folder) });
    return;
  }
  const groups = Object.entries(store.groups);
  const methods: StoreMethods = allOf(store.groups);
  const names = Object.fromEntries(groups.map(([group, of]) => [group, Object.keys(of)]));
  reply({ type: 'opened', journal: store.journal, names });
  async function answer(request: StoreRequest): Promise<void> {
    try {
      reply({ type: 'result', id: request.id, value: await invoke(methods, request) });
    } catch (error) {
      reply({ type: 'error', id: request.id, error: describeError(error, folder) });
    }
  }
  // Requests run one after the other: a DuckDB query is answered later, and must not see what the next
  // request changes.
  let last = Promise.resolve();
  let isLeaving = false;
  port.on('message', (request: StoreRequest | typeof LEAVE) => {
    if (request !== LEAVE) {
      last = last.then(() => (isLeaving ? undefined : answer(request)));
      return;
    }
    isLeaving = true;
    reply({ type: 'leaving' });
    // Waits for DuckDB's answer: an answer to a terminated thread ends the whole process.
    last = last
      .then(async () => {
        await methods['close']?.();
      })
      .catch(() => undefined)
      .then(() => process.exit());
  });
}

function invoke(methods: StoreMethods, request: StoreRequest): unknown {
  const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  if (!method) throw new Error(`The store has no method ${request.method}.`);
  // StoreThread.call types the arguments by this same table.
  return (method as (...args: unknown[]) => unknown)(...request.args);
}

/** Settings, run history and learnt facts about devices, in one database per user. */
export type LibraryStore = Asked<LibraryMethods>;

/** Opens the library database at a path, creating it if there is none. Rejects with AppFailure. */
export async function openLibraryStore(
  path: string,
  { hostEntry }: { hostEntry: URL },
): Promise<LibraryStore> {
  const thread = await StoreThread.open<LibraryMethods>(hostEntry, { store: 'library', path });
  const asked = (thread.names['all'] ?? []).map((name) => [name, thread.method(name)]);
  let closing: Promise<void> | null = null;
  return {
    ...(Object.fromEntries(asked) as LibraryStore),
    close: () => (closing ??= thread.close()),
  };
}
