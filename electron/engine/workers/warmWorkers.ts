import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { WorkerEvent, WorkerReady } from '../../contract/protocol/index.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import {
  type BackendProcess,
  type LoadCommand,
  type ProcessEvent,
  startWorkerProcess,
  type WorkerLauncher,
} from './backendProcess.ts';

interface Idle {
  readonly process: BackendProcess<WorkerEvent>;
  hello: Extract<WorkerEvent, { type: 'hello' }>;
  load: LoadCommand;
  ready: WorkerReady;
  readonly timer: NodeJS.Timeout;
}

/** Long enough for the next run of a queue, and short enough for other programs that want the memory. */
const KEPT_MS = 60_000;
const END_GRACE_MS = 5_000;

/**
 * Workers that wait with their model loaded after a run has ended, for the next run on the same device with the
 * same model. Loading takes seconds, which a queue of small runs would otherwise pay again and again.
 */
export class WarmWorkers {
  private readonly keptMs: number;
  private readonly idle = new Map<string, Idle>();
  private closed = false;

  constructor(keptMs = KEPT_MS) {
    this.keptMs = keptMs;
  }

  /** Main memory that waiting workers on processors hold, in bytes: a run that takes them over needs no more. */
  get memoryBytes(): number {
    return [...this.idle.values()].reduce(
      (sum, { load, ready }) => sum + (load.device === 'cpu' ? ready.memory_bytes : 0),
      0,
    );
  }

  /**
   * Takes over the worker that waits for this launch with the same model, or starts one. Of a worker that has waited a
   * run hears what it would hear of a new one. One with another model is ended: its memory is free long before a new
   * process has started and loads.
   */
  launcher(
    launch: PythonLaunch,
    logPath: string,
    modelHash: string,
    wanted: () => LoadCommand,
  ): WorkerLauncher {
    // Workers of one processor are launched alike; each device has its own log.
    const key = JSON.stringify([launch.file, launch.args, launch.env, basename(logPath)]);
    return (emit) => {
      const idle = this.take(key);
      const waited = idle && isSameModel(idle, wanted(), modelHash) ? idle : undefined;
      if (idle && !waited) void idle.process.stop(END_GRACE_MS);
      const known: Partial<Omit<Idle, 'timer'>> = { ...waited };
      const hear = (event: ProcessEvent<WorkerEvent>): void => {
        if (event.type === 'message' && event.message.type === 'hello') known.hello = event.message;
        if (event.type === 'message' && event.message.type === 'ready') known.ready = event.message;
        emit(event);
      };
      const hearSoon = (message: WorkerEvent): void => {
        queueMicrotask(() => hear({ type: 'message', message }));
      };
      const process = waited?.process ?? startWorkerProcess(launch, logPath, hear);
      if (waited) {
        process.attach(hear, logPath);
        hearSoon(waited.hello);
      }
      return {
        pid: process.pid,
        send: (command) => {
          if (command.type === 'load') known.load = command;
          if (command.type === 'load' && waited) hearSoon({ ...waited.ready, load_seconds: 0 });
          else process.send(command);
        },
        writeLog: (line) => process.writeLog(line),
        stop: (graceMs) => process.stop(graceMs),
        kill: () => process.kill(),
        rest: () => {
          const { hello, load, ready } = known;
          if (!hello || !load || !ready) return false;
          this.keep(key, { process, hello, load, ready });
          return true;
        },
      };
    };
  }

  private take(key: string): Idle | undefined {
    const found = this.idle.get(key);
    this.idle.delete(key);
    if (found) clearTimeout(found.timer);
    return found;
  }

  private keep(key: string, worker: Omit<Idle, 'timer'>): void {
    if (this.closed) {
      void worker.process.stop(END_GRACE_MS);
      return;
    }
    const timer = setTimeout(() => void this.end(key), this.keptMs);
    timer.unref();
    const kept = { ...worker, timer };
    this.idle.set(key, kept);
    worker.process.attach((event) => {
      if (event.type === 'message' || this.idle.get(key) !== kept) return;
      this.take(key);
    });
  }

  /** Ends all that wait, so that their memory is free. */
  async release(): Promise<void> {
    await Promise.all([...this.idle.keys()].map((key) => this.end(key)));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.release();
  }

  private async end(key: string): Promise<void> {
    await this.take(key)?.process.stop(END_GRACE_MS);
  }
}

/** Whether a worker that has loaded one may compute for the other. What is known of its memory may have grown. */
function isSameModel({ load, ready }: Idle, wanted: LoadCommand, modelHash: string): boolean {
  const comparable = (command: LoadCommand): LoadCommand => ({
    ...command,
    memory_profile: null,
    most_tokens_per_batch: null,
  });
  const fits = (wanted.most_tokens_per_batch ?? Infinity) >= ready.tokens_per_batch;
  return fits && ready.model_hash === modelHash && isDeepStrictEqual(comparable(load), comparable(wanted));
}
