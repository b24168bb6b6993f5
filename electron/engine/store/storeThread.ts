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
} from './storeProtocol.ts';

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (failure: AppFailure) => void;
}

/**
 * Rows of the database live no longer than a page of them; V8 would take ten times as much for them, and be no faster. A heap that may
 * become as large as V8 lets it, 4 GB, grows in larger steps than one that may not: 60 MB more for the threads of a run's end.
 */
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 1024 };

/** Within which an empty or small database opens on any computer. */
const OPEN_MS = 60_000;
/** A thread ends at once, unless SQLite is at work in it, which nothing can break off. */
const END_MS = 5_000;
/** Within which a thread hears that it is to end, unless it is at work. */
const HEAR_MS = 2_000;

/** Every thread from its start to its end. */
const living = new Set<Worker>();

/** Threads that have not ended. One that was asked to end is busy in SQLite: only the end of the process stops it. */
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
 * Ends a thread, or gives up on it. One that hears it ends by itself, when DuckDB has answered what it was asked: Node ends the whole
 * process where that answer finds its thread terminated. One that does not hear it is at work itself, and waits for no answer.
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

/** Throws where the program is being closed. */
export function refuseWhenClosing(closing: AbortSignal | undefined): void {
  if (closing?.aborted) throw new AppFailure(PROGRAM_CLOSES);
}

const PROGRAM_CLOSES = appError('usage', 'The program is being closed.');

export interface OpeningLimits {
  limitMs?: number;
  /** No thread starts, and none that is opening its database goes on, once it is aborted. */
  closing?: AbortSignal | undefined;
}

/** The engine's end of one store thread: requests go in, each is answered by a promise. */
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

  /** Starts a thread and waits until its database is open. Rejects with the AppFailure that the thread met, after `limitMs`,
   * or when the program is being closed; then the thread has been ended. */
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
      // The thread runs the very method whose type this is.
      const answer = (value: unknown) => resolve(value as Awaited<ReturnType<Methods[Name]>>);
      this.#waiting.set(request.id, { resolve: answer, reject });
      this.#worker.postMessage(request);
    });
  }

  /** A method of the thread, as a function. */
  method(name: string): (...args: unknown[]) => Promise<unknown> {
    return (...args) => this.call(name, ...(args as Parameters<Methods[string]>));
  }

  /** Closes the database and ends the thread, also where closing fails: a thread that is left keeps
   * the process from ending. `limitMs`: how long it may be at work before it is ended without that. */
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

  /** Ends the thread after its last call. The database must have been closed by a call. Resolves within seconds, also where
   * the thread does not end: see `threadsLeft`. */
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
