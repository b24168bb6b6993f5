import { basename } from 'node:path';
import { appError, type AppError } from '../../contract/errors.ts';
import {
  workerEventSchema,
  type Heartbeat,
  type OutOfMemory,
  type PartCommand,
  type PartDone,
  type PartFailed,
  type PartProgress,
  type WorkerCommand,
  type WorkerEvent,
  type WorkerReady,
} from '../../contract/protocol/index.ts';
import type { WorkerState } from '../../contract/rpc/runs.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { BackendProcess } from './backendProcess.ts';
import { HELD_UP_MS, ProgressWatch, StartWatch, type DeadlineLimits } from './deadlines.ts';
import { describeExit, type ProcessExit } from './describeExit.ts';
import { decideRestart } from './restartPolicy.ts';

export const PARTS_IN_FLIGHT = 2;
const STOP_GRACE_MS = 10_000;
const WATCH_INTERVAL_MS = 1_000;

export interface DeviceWorkerOptions {
  device: string;
  launch: PythonLaunch;
  logPath: string;
  load: Extract<WorkerCommand, { type: 'load' }>;
  deadlines: DeadlineLimits;
  restartDelayMs: number;
}

/** What a worker tells the run. A worker's death gives back all parts that it held. */
export interface DeviceWorkerHandlers {
  stateChanged: (state: WorkerState) => void;
  ready: (ready: WorkerReady) => void;
  progress: (progress: PartProgress) => void;
  partDone: (done: PartDone) => void;
  partFailed: (failed: PartFailed) => void;
  outOfMemory: (event: OutOfMemory) => void;
  heartbeat: (beat: Heartbeat) => void;
  /** The computer slept: what was measured over that time means nothing. */
  heldUp: () => void;
  note: (level: 'info' | 'warning' | 'error', message: string) => void;
  died: (death: { held: string[]; error: AppError }) => void;
}

type Process = BackendProcess<WorkerEvent>;
type Life =
  | { phase: 'starting' | 'loading'; process: Process; watch: StartWatch }
  | { phase: 'ready'; process: Process; watch: ProgressWatch }
  | { phase: 'restarting'; timer: NodeJS.Timeout }
  | { phase: 'ended' };

/** One supervised worker process of one device: started, watched, restarted, stopped. */
export class DeviceWorker {
  readonly device: string;
  private readonly options: DeviceWorkerOptions;
  private readonly handlers: DeviceWorkerHandlers;
  private readonly inFlight: string[] = [];
  private readonly watchTimer: NodeJS.Timeout;
  private life: Life = { phase: 'ended' };
  private deathsWithoutProgress = 0;
  private lastCheckAt = Date.now();
  /** Why the process is about to end, where the engine itself has found that out. */
  private verdict: AppError | undefined;
  private stopping = false;

  constructor(options: DeviceWorkerOptions, handlers: DeviceWorkerHandlers) {
    this.device = options.device;
    this.options = options;
    this.handlers = handlers;
    this.watchTimer = setInterval(() => {
      this.checkDeadlines(Date.now());
    }, WATCH_INTERVAL_MS);
    this.watchTimer.unref();
  }

  start(): void {
    const process: Process = new BackendProcess(
      this.options.launch,
      this.options.logPath,
      workerEventSchema,
      {
        event: (event) => {
          this.take(event, process);
        },
        fault: (error) => {
          this.verdict ??= error;
        },
        exit: (exit) => {
          this.onExit(exit);
        },
      },
    );
    const watch = new StartWatch(this.options.deadlines.helloMs, Date.now());
    this.life = { phase: 'starting', process, watch };
    this.handlers.stateChanged({ state: 'starting' });
  }

  get pid(): number {
    return this.life.phase === 'ready' ? (this.life.process.pid ?? 0) : 0;
  }

  get logName(): string {
    return `logs/${basename(this.options.logPath)}`;
  }

  get freeSlots(): number {
    return this.life.phase === 'ready' && !this.stopping ? PARTS_IN_FLIGHT - this.inFlight.length : 0;
  }

  /** Parts it holds but has not begun, last assigned first. */
  get notBegun(): string[] {
    return this.inFlight.slice(1).reverse();
  }

  assign(part: PartCommand): void {
    if (this.life.phase !== 'ready') throw new Error(`worker ${this.device} is not ready`);
    this.inFlight.push(part.part);
    this.life.process.writeLog(`assign ${part.part} frames ${part.frame_begin}-${part.frame_end}`);
    this.life.process.send(part);
    this.showWork();
  }

  recall(part: string): void {
    if (this.life.phase === 'ready') this.life.process.send({ type: 'recall', part });
  }

  /** Ends the process after the batch under way and answers with the parts it held. */
  async stop(graceMs = STOP_GRACE_MS): Promise<string[]> {
    this.stopping = true;
    clearInterval(this.watchTimer);
    const { life } = this;
    if (life.phase === 'restarting') clearTimeout(life.timer);
    else if (life.phase !== 'ended') {
      life.process.send({ type: 'stop' });
      await life.process.stop(graceMs);
    }
    this.life = { phase: 'ended' };
    return this.inFlight.splice(0);
  }

  private take(event: WorkerEvent, process: Process): void {
    const { deadlines } = this.options;
    if (this.life.phase === 'ready') this.life.watch.message(Date.now());
    switch (event.type) {
      case 'hello':
        this.life = { phase: 'loading', process, watch: new StartWatch(deadlines.loadMs, Date.now()) };
        this.handlers.stateChanged({ state: 'loading' });
        process.send(this.options.load);
        break;
      case 'ready':
        this.life = { phase: 'ready', process, watch: new ProgressWatch(deadlines, Date.now()) };
        this.showWork();
        this.handlers.ready(event);
        break;
      case 'load_failed':
        this.verdict = appError('worker_load_failed', event.message, { nextStep: event.next_step });
        // What is missing or unsupported stays so: only an unexplained failure is worth another start.
        if (event.code !== 'internal_error') this.deathsWithoutProgress = Number.POSITIVE_INFINITY;
        process.kill();
        break;
      case 'progress':
        this.handlers.progress(event);
        break;
      case 'part_done':
        this.deathsWithoutProgress = 0;
        this.release(event.part);
        this.handlers.partDone(event);
        break;
      case 'part_failed':
        this.release(event.part);
        this.handlers.partFailed(event);
        break;
      case 'oom':
        this.handlers.outOfMemory(event);
        break;
      case 'heartbeat':
        if (this.life.phase === 'ready') this.life.watch.heartbeat(event, Date.now());
        this.handlers.heartbeat(event);
        break;
      case 'log':
        this.handlers.note(event.level === 'debug' ? 'info' : event.level, event.message);
        break;
      case 'bye':
        break;
    }
  }

  private release(part: string): void {
    const index = this.inFlight.indexOf(part);
    if (index >= 0) this.inFlight.splice(index, 1);
    this.showWork();
  }

  private showWork(): void {
    const [part] = this.inFlight;
    this.handlers.stateChanged(part === undefined ? { state: 'idle' } : { state: 'working', part });
  }

  private checkDeadlines(now: number): void {
    const watched = 'watch' in this.life ? this.life : undefined;
    const heldUpMs = now - this.lastCheckAt;
    this.lastCheckAt = now;
    // Below nothing where the clock was set back, by which the worker would else have all that time.
    if (heldUpMs > HELD_UP_MS || heldUpMs < 0) {
      watched?.watch.forgive(heldUpMs);
      this.handlers.heldUp();
      return;
    }
    const missed = watched?.watch.missed(now);
    if (watched && missed) {
      this.condemn(appError(missed.code, `The worker of ${this.device} ${missed.words}.`), watched.process);
    }
  }

  private condemn(error: AppError, process: Process): void {
    if (this.verdict) return;
    this.verdict = error;
    process.writeLog(`killed: ${error.cause}`);
    process.kill();
  }

  private onExit(exit: ProcessExit): void {
    if (this.stopping) return;
    const error =
      this.verdict ??
      appError('worker_died', `The worker of ${this.device} stopped: ${describeExit(exit)}.`, {
        detail: exit.lastLines.join('\n'),
      });
    this.verdict = undefined;
    const held = this.inFlight.splice(0);
    this.deathsWithoutProgress += 1;
    const decision = decideRestart(this.deathsWithoutProgress, this.options.restartDelayMs);
    if (decision.restart) {
      const timer = setTimeout(() => {
        this.start();
      }, decision.delayMs);
      this.life = { phase: 'restarting', timer };
      this.handlers.stateChanged({ state: 'restarting', attempt: this.deathsWithoutProgress, error });
    } else {
      clearInterval(this.watchTimer);
      this.life = { phase: 'ended' };
      this.handlers.stateChanged({ state: 'switched_off', error });
    }
    this.handlers.died({ held, error });
  }
}
