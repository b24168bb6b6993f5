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

interface Known {
  hello?: Extract<WorkerEvent, { type: 'hello' }>;
  load?: LoadCommand;
  ready?: WorkerReady;
}

/** A worker that waits: with its model loaded, or started ahead of its run. */
interface Idle {
  readonly process: BackendProcess<WorkerEvent>;
  readonly known: Known;
  readonly timer: NodeJS.Timeout;
}

/** Long enough for the next run of a queue, and short enough for other programs that want the memory. */
const KEPT_MS = 60_000;
const END_GRACE_MS = 5_000;

/**
 * Workers that wait for a run on their device. After a run they wait with their model loaded, for the next one with the
 * same model: loading takes seconds, which a queue of small runs would otherwise pay again and again. Before a run one
 * starts while the inputs are read, because Python and PyTorch take seconds too.
 */
export class WarmWorkers {
  private readonly keptMs: number;
  private readonly idle = new Map<string, Idle>();
  /** Those that a run has. */
  private readonly atWork = new Set<BackendProcess<WorkerEvent>>();
  private closed = false;

  /** `keptMs`: how long one waits after a run; 0 if it ends with its run. */
  constructor(keptMs = KEPT_MS) {
    this.keptMs = keptMs;
  }

  /** Main memory that waiting workers on processors hold, in bytes: a run that takes them over needs no more. */
  get memoryBytes(): number {
    return [...this.idle.values()].reduce(
      (sum, { known: { load, ready } }) => sum + (load?.device === 'cpu' ? (ready?.memory_bytes ?? 0) : 0),
      0,
    );
  }

  /** Starts a worker for the run that is being made for a device, unless another run is at work or one waits. */
  startAhead(launch: PythonLaunch, device: string): void {
    const key = keyOf(launch, device);
    if (this.closed || this.atWork.size > 0 || this.idle.has(key)) return;
    this.keep(
      key,
      startWorkerProcess(launch, undefined, () => undefined),
      {},
      KEPT_MS,
    );
  }

  /**
   * Takes over the worker that waits for this launch with no model yet or the same, or starts one. Of a worker that has
   * waited a run hears what it would hear of a new one. One with another model is ended: its memory is free long before
   * a new process has started and loads.
   */
  launcher(
    launch: PythonLaunch,
    device: string,
    logPath: string,
    modelHash: string,
    wanted: () => LoadCommand,
  ): WorkerLauncher {
    const key = keyOf(launch, device);
    return (emit) => {
      const idle = this.take(key);
      const waited = idle && isFit(idle.known, wanted(), modelHash) ? idle : undefined;
      if (idle && !waited) void idle.process.stop(END_GRACE_MS);
      const known: Known = { ...waited?.known };
      const { hello, ready } = known;
      const hear = (event: ProcessEvent<WorkerEvent>): void => {
        note(known, event);
        if (event.type === 'exit') this.atWork.delete(process);
        emit(event);
      };
      const hearSoon = (message: WorkerEvent): void => {
        queueMicrotask(() => hear({ type: 'message', message }));
      };
      const process = waited?.process ?? startWorkerProcess(launch, logPath, hear);
      this.atWork.add(process);
      if (waited) process.attach(hear, logPath);
      if (hello) hearSoon(hello);
      return {
        pid: process.pid,
        send: (command) => {
          if (command.type === 'load') known.load = command;
          if (command.type === 'load' && ready) hearSoon({ ...ready, load_seconds: 0 });
          else process.send(command);
        },
        writeLog: (line) => process.writeLog(line),
        stop: (graceMs) => process.stop(graceMs),
        kill: () => process.kill(),
        rest: () => {
          if (this.keptMs === 0 || !known.ready) return false;
          this.atWork.delete(process);
          this.keep(key, process, known, this.keptMs);
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

  private keep(key: string, process: BackendProcess<WorkerEvent>, known: Known, forMs: number): void {
    if (this.closed) {
      void process.stop(END_GRACE_MS);
      return;
    }
    const timer = setTimeout(() => void this.end(key), forMs);
    timer.unref();
    const kept = { process, known, timer };
    this.idle.set(key, kept);
    process.attach((event) => {
      note(known, event);
      if (event.type !== 'message' && this.idle.get(key) === kept) this.take(key);
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
    const idle = this.take(key);
    await idle?.process.stop(idle.known.ready ? END_GRACE_MS : 0);
  }
}

/** Workers of one processor are launched alike. */
const keyOf = (launch: PythonLaunch, device: string): string =>
  JSON.stringify([launch.file, launch.args, launch.env, device]);

function note(known: Known, event: ProcessEvent<WorkerEvent>): void {
  if (event.type === 'message' && event.message.type === 'hello') known.hello = event.message;
  if (event.type === 'message' && event.message.type === 'ready') known.ready = event.message;
}

/**
 * Whether a worker may compute for a run: it has no model yet, or the same. What is known of its memory may have grown.
 */
function isFit({ load, ready }: Known, wanted: LoadCommand, modelHash: string): boolean {
  if (!load || !ready) return true;
  const comparable = (command: LoadCommand): LoadCommand => ({
    ...command,
    memory_profile: null,
    most_tokens_per_batch: null,
  });
  const fits = (wanted.most_tokens_per_batch ?? Infinity) >= ready.tokens_per_batch;
  return fits && ready.model_hash === modelHash && isDeepStrictEqual(comparable(load), comparable(wanted));
}
