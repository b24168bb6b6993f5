import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { WorkerCommand, WorkerEvent } from '../../contract/protocol/index.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import type { BackendProcess } from './backendProcess.ts';
import {
  type LoadCommand,
  type ProcessEvent,
  startWorkerProcess,
  type WorkerConnection,
  type WorkerLauncher,
} from './backendProcess.ts';

type Hello = Extract<WorkerEvent, { type: 'hello' }>;
type Ready = Extract<WorkerEvent, { type: 'ready' }>;
type WorkerProcess = BackendProcess<WorkerEvent>;

interface Idle {
  readonly process: WorkerProcess;
  readonly hello: Hello;
  readonly load: LoadCommand;
  readonly ready: Ready;
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

  /** Takes over the worker that waits for this launch, or starts one. */
  launcher(launch: PythonLaunch, logPath: string, modelHash: string): WorkerLauncher {
    // Workers of one processor are launched alike; each device has its own log.
    const key = JSON.stringify([launch.file, launch.args, launch.env, basename(logPath)]);
    return (emit) => new KeptWorker(this, { key, launch, logPath, modelHash }, emit);
  }

  take(key: string): Idle | undefined {
    const found = this.idle.get(key);
    this.idle.delete(key);
    if (found) clearTimeout(found.timer);
    return found;
  }

  keep(key: string, worker: Omit<Idle, 'timer'>): void {
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

interface Launching {
  readonly key: string;
  readonly launch: PythonLaunch;
  readonly logPath: string;
  readonly modelHash: string;
}

/** One run's connection to a worker. It hears of a worker that has waited what it would hear of a new one. */
class KeptWorker implements WorkerConnection {
  private readonly kept: WarmWorkers;
  private readonly launching: Launching;
  private readonly emit: (event: ProcessEvent<WorkerEvent>) => void;
  private process: WorkerProcess;
  private waited: Idle | undefined;
  private hello: Hello | undefined;
  private load: LoadCommand | undefined;
  private ready: Ready | undefined;
  private limited = false;
  private over = false;

  constructor(kept: WarmWorkers, launching: Launching, emit: (event: ProcessEvent<WorkerEvent>) => void) {
    this.kept = kept;
    this.launching = launching;
    this.emit = emit;
    this.waited = kept.take(launching.key);
    if (!this.waited) {
      this.process = this.start();
      return;
    }
    const { process, hello } = this.waited;
    this.process = process;
    process.attach(this.take, launching.logPath);
    queueMicrotask(() => this.take({ type: 'message', message: hello }));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  send(command: WorkerCommand): void {
    if (command.type !== 'load') {
      this.limited ||= command.type === 'limit_batches';
      this.process.send(command);
      return;
    }
    this.load = command;
    const { waited } = this;
    this.waited = undefined;
    if (!waited) this.process.send(command);
    else if (isSameModel(waited, command, this.launching.modelHash)) this.goOn(waited, command);
    else this.replace(command);
  }

  writeLog(line: string): void {
    this.process.writeLog(line);
  }

  stop(graceMs: number): Promise<void> {
    this.over = true;
    return this.process.stop(graceMs);
  }

  kill(): void {
    this.over = true;
    this.process.kill();
  }

  rest(): boolean {
    const { process, hello, load, ready } = this;
    if (!hello || !load || !ready || this.limited) return false;
    this.kept.keep(this.launching.key, { process, hello, load, ready });
    return true;
  }

  private goOn({ ready }: Idle, { most_tokens_per_batch: most }: LoadCommand): void {
    if (most !== null && most < ready.tokens_per_batch)
      this.process.send({ type: 'limit_batches', most_tokens_per_batch: most });
    queueMicrotask(() => this.take({ type: 'message', message: { ...ready, load_seconds: 0 } }));
  }

  /** The worker that has waited holds another model, whose memory must be free before this one is loaded. */
  private replace(load: LoadCommand): void {
    const before = this.process;
    let exit: ProcessEvent<WorkerEvent> | undefined;
    before.attach((event) => {
      exit = event;
    });
    void before.stop(END_GRACE_MS).then(() => {
      if (this.over) {
        if (exit) this.emit(exit);
        return;
      }
      this.process = this.start((event) => {
        if (event.type !== 'message' || event.message.type !== 'hello') {
          this.take(event);
          return;
        }
        this.hello = event.message;
        this.process.send(load);
      });
    });
  }

  private start(take = this.take): WorkerProcess {
    return startWorkerProcess(this.launching.launch, this.launching.logPath, take);
  }

  private readonly take = (event: ProcessEvent<WorkerEvent>): void => {
    if (event.type === 'message' && event.message.type === 'hello') this.hello = event.message;
    if (event.type === 'message' && event.message.type === 'ready') this.ready = event.message;
    this.emit(event);
  };
}

/** Whether a worker that has loaded one may compute for the other. What is known of its memory may have grown. */
function isSameModel({ load, ready }: Idle, wanted: LoadCommand, modelHash: string): boolean {
  const comparable = (command: LoadCommand): LoadCommand => ({
    ...command,
    memory_profile: null,
    most_tokens_per_batch: null,
  });
  return ready.model_hash === modelHash && isDeepStrictEqual(comparable(load), comparable(wanted));
}
