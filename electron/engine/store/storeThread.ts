import { Worker } from 'node:worker_threads';
import { appError, AppFailure, type AppError } from '../../contract/errors.ts';
import type {
  Journal,
  StoreMethods,
  StoreReply,
  StoreRequest,
  StoreTask,
  StoreThreadData,
} from './storeProtocol.ts';

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (failure: AppFailure) => void;
}

/** Rows of the database live no longer than a page of them; V8 would take three times as much for them, and be no faster. */
const YOUNG_GENERATION_MB = 64;

/** The engine's end of one store thread: requests go in, each is answered by a promise. */
export class StoreThread<Methods extends StoreMethods> {
  readonly journal: Journal;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #ended: AppError | null = null;

  private constructor(worker: Worker, journal: Journal) {
    this.#worker = worker;
    this.journal = journal;
    worker.on('message', (reply: StoreReply) => this.#settle(reply));
    worker.on('error', (error: Error) => this.#end(storeEnded(error.stack ?? error.message)));
    worker.on('exit', (code) => this.#end(storeEnded(`exit code ${code}`)));
  }

  /** Starts a thread and waits until its database is open; rejects with the AppFailure that the thread met. */
  static open<Methods extends StoreMethods>(hostEntry: URL, task: StoreTask): Promise<StoreThread<Methods>> {
    return new Promise((resolve, reject) => {
      const workerData: StoreThreadData = { virnucproStore: task };
      const worker = new Worker(hostEntry, {
        workerData,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      });
      const failed = (error: Error) => reject(new AppFailure(storeEnded(error.stack ?? error.message)));
      const exited = (code: number) => reject(new AppFailure(storeEnded(`exit code ${code}`)));
      worker.once('error', failed);
      worker.once('exit', exited);
      worker.once('message', (reply: StoreReply) => {
        worker.off('error', failed);
        worker.off('exit', exited);
        if (reply.type === 'opened') resolve(new StoreThread<Methods>(worker, reply.journal));
        else
          reject(
            new AppFailure(reply.type === 'refused' ? reply.error : storeEnded('unexpected first message')),
          );
      });
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

  /** Closes the database by its method for that and ends the thread, also where closing fails: a thread that is left keeps
   * the process from ending. */
  async close(method: keyof Methods & string): Promise<void> {
    try {
      await this.call(method, ...([] as unknown as Parameters<Methods[typeof method]>));
    } finally {
      await this.stop();
    }
  }

  /** Ends the thread after its last call. The database must have been closed by a call. */
  async stop(): Promise<void> {
    this.#ended ??= appError('internal', 'The database of the run has been closed.');
    await this.#worker.terminate();
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
