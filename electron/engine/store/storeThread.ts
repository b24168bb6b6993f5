import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { appError, AppFailure, type AppError } from '../../contract/errors.ts';
import {
  LEAVE,
  type Journal,
  type MethodNames,
  type StoreMethods,
  type StoreReply,
  type StoreRequest,
  type StoreTask,
  type StoreThreadData,
  type Asked,
} from './storeProtocol.ts';
import type { LibraryMethods } from './sqlite/libraryDatabase.ts';

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

/** Throws if the program is being closed. */
export function refuseWhenClosing(closing: AbortSignal | undefined): void {
  if (closing?.aborted) throw new AppFailure(PROGRAM_CLOSES);
}

const PROGRAM_CLOSES = appError('usage', 'The program is being closed.');

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

  private static opened<Methods extends StoreMethods>(
    worker: Worker,
    { limitMs = OPEN_MS, closing }: OpeningLimits,
  ): Promise<StoreThread<Methods>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        clearTimeout(limit);
        closing?.removeEventListener('abort', closed);
        worker.off('error', failed);
        worker.off('exit', exited);
        worker.off('message', answered);
        outcome();
      };
      const fail = (error: AppError): void => settle(() => reject(new AppFailure(error)));
      const failed = (error: Error): void => fail(storeEnded(error.stack ?? error.message));
      const exited = (code: number): void => fail(storeEnded(`exit code ${code}`));
      const closed = (): void => fail(PROGRAM_CLOSES);
      const answered = (reply: StoreReply): void => {
        if (reply.type === 'opened') settle(() => resolve(new StoreThread<Methods>(worker, reply)));
        else fail(reply.type === 'refused' ? reply.error : storeEnded('unexpected first message'));
      };
      const limit = setTimeout(() => {
        fail(
          appError('run_damaged', 'Its database does not open in a time in which any of this program would.'),
        );
      }, limitMs);
      closing?.addEventListener('abort', closed);
      worker.once('error', failed);
      worker.once('exit', exited);
      worker.once('message', answered);
    });
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

  /** Returns a method of the thread as a function. */
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
