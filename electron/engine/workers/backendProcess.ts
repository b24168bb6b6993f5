import type { z } from 'zod';
import { parseJson } from '../../contract/parseJson.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { appError, errorOf, type AppError } from '../../contract/errors.ts';
import { message as sentence } from '../../contract/messages.ts';
import {
  PROTOCOL_VERSION,
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
import { ProgressWatch, RegularLook, StartWatch, type DeadlineLimits } from './deadlines.ts';
import { ChildProcess, exitMessage, type ProcessExit } from './childProcess.ts';
import { ProcessLog } from './processLog.ts';

export type ProcessEvent<Message> =
  | { type: 'message'; message: Message }
  /** The channel is unusable because of garbage or a wrong protocol version. The process is being killed. */
  | { type: 'fault'; error: AppError }
  /** Always the last event. */
  | { type: 'exit'; exit: ProcessExit };

/**
 * A Python process that speaks the line protocol: it receives commands and sends messages, which are
 * validated; standard error goes to a log file.
 */
export class BackendProcess<Message extends { type: string }> {
  readonly ended: Promise<void>;
  private readonly child: ChildProcess;
  private readonly messages: z.ZodType<Message>;
  private emit: (event: ProcessEvent<Message>) => void;
  private log: ProcessLog | undefined;
  /** What it has said before it had a log. */
  private readonly unlogged: string[] = [];
  private greeted = false;
  private faulted = false;

  constructor(
    launch: PythonLaunch,
    logPath: string | undefined,
    messages: z.ZodType<Message>,
    emit: (event: ProcessEvent<Message>) => void,
  ) {
    this.messages = messages;
    this.emit = emit;
    this.log = logPath === undefined ? undefined : new ProcessLog(logPath);
    this.child = new ChildProcess(launch, {
      line: (line) => {
        if (!this.faulted) this.take(line);
      },
      errorLine: (line) => this.writeLine(line),
      overlong: () =>
        this.fail(appError('protocol_garbage', 'The Python process wrote a line that does not end.')),
    });
    this.ended = this.child.ended.then((exit) => {
      this.log?.end(
        this.logLine(`process ended: exit code ${exit.code ?? '-'}, signal ${exit.signal ?? '-'}`),
      );
      this.emit({ type: 'exit', exit });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** From now on another listener hears the process, and another file, if any, is its log. */
  attach(emit: (event: ProcessEvent<Message>) => void, logPath?: string): void {
    this.emit = emit;
    if (logPath === undefined) {
      this.log?.end(this.logLine('the process leaves this run'));
      return;
    }
    this.log = new ProcessLog(logPath);
    for (const line of this.unlogged.splice(0)) this.log.write(line);
  }

  send(command: object): void {
    this.child.write(`${JSON.stringify(command)}\n`);
  }

  writeLog(line: string): void {
    this.writeLine(this.logLine(line));
  }

  private writeLine(line: string): void {
    if (this.log) this.log.write(line);
    else this.unlogged.push(line);
  }

  /**
   * Ends the process in steps: it closes standard input, then sends SIGTERM, then SIGKILL to the whole tree.
   */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.child.stop(graceMs), this.ended]);
  }

  kill(): void {
    this.child.kill();
  }

  /** Reads no more messages until `release`; the process blocks meanwhile. */
  hold(): void {
    this.child.hold();
  }

  release(): void {
    this.child.release();
  }

  private logLine(words: string): string {
    return `${new Date().toISOString()} engine ${words}`;
  }

  private take(line: string): void {
    const message = parseJson(this.messages, line);
    if (!message) {
      this.fail(
        appError('protocol_garbage', 'The Python process wrote a line that is not one of its messages.', {
          detail: line.slice(0, 2000),
        }),
      );
      return;
    }
    const wrong = this.greeted ? null : wrongGreeting(message);
    if (wrong) {
      this.fail(wrong);
      return;
    }
    this.greeted = true;
    this.emit({ type: 'message', message });
  }

  private fail(error: AppError): void {
    this.faulted = true;
    this.writeLog(`fault: ${error.cause} ${error.detail ?? ''}`);
    this.emit({ type: 'fault', error });
    this.kill();
  }
}

/**
 * Explains what is wrong with the first message of a process: it must be `hello`, with this program's version
 * of the protocol.
 */
function wrongGreeting(message: { type: string; protocol?: number }): AppError | null {
  if (message.type === 'hello' && message.protocol === PROTOCOL_VERSION) return null;
  return appError(
    'protocol_version',
    `The Python backend speaks protocol version ${message.protocol ?? 'unknown'}, this program version ${PROTOCOL_VERSION}.`,
  );
}

/** A started worker: it accepts commands and sends events until it ends. */
export interface WorkerConnection {
  readonly pid: number | null | undefined;
  send(command: WorkerCommand): void;
  /** Writes to the worker's log. */
  writeLog(line: string): void;
  /** Ends the worker after the current batch, by force if that takes longer. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
  /** Leaves the worker, with its model loaded, to the next run; false if it can't be left. */
  rest?(): boolean;
}

/**
 * Starts a worker, whose exit is always the last event. Nothing is emitted before the launcher has returned.
 */
export type WorkerLauncher = (emit: (event: ProcessEvent<WorkerEvent>) => void) => WorkerConnection;

export function startWorkerProcess(
  launch: PythonLaunch,
  logPath: string | undefined,
  emit: (event: ProcessEvent<WorkerEvent>) => void,
): BackendProcess<WorkerEvent> {
  return new BackendProcess(launch, logPath, workerEventSchema, emit);
}

/** Starts workers as processes on this computer. */
export function localLauncher(launch: PythonLaunch, logPath: string): WorkerLauncher {
  return (emit) => startWorkerProcess(launch, logPath, emit);
}

const STOP_GRACE_MS = 10_000;

export type LoadCommand = Extract<WorkerCommand, { type: 'load' }>;

export interface DeviceWorkerOptions {
  device: string;
  launch: WorkerLauncher;
  /** Returns the command that loads the model; called once the first worker can receive it. */
  load: () => LoadCommand;
  /** Hash of the model that the run was made for. */
  modelHash: string;
  deadlines: DeadlineLimits;
  restartDelayMs: number;
}

/** Events that a worker's process sends, and those that its supervision adds. */
export type DeviceWorkerEvent = { device: string } & (
  | { type: 'worker_starting' }
  | { type: 'worker_loading' }
  | { type: 'worker_ready'; ready: WorkerReady }
  | { type: 'worker_note'; level: 'info' | 'warning' | 'error'; message: string }
  /**
   * All parts that it held are lost. Contains the number of the next attempt to start it, or null if it is
   * not started again.
   */
  | { type: 'worker_died'; error: AppError; restartAttempt: number | null }
  | { type: 'part_progress'; progress: PartProgress }
  | { type: 'part_done'; done: PartDone }
  | { type: 'part_failed'; failed: PartFailed }
  | { type: 'out_of_memory'; oom: OutOfMemory }
  | { type: 'heartbeat'; beat: Heartbeat }
  /** The computer slept: measurements over that time mean nothing. */
  | { type: 'held_up' }
  /** Whether it has ceased to advance, or advances again. */
  | { type: 'stalls'; stalls: boolean }
);

type Life =
  | { phase: 'starting' | 'loading'; worker: WorkerConnection; watch: StartWatch }
  | { phase: 'ready'; worker: WorkerConnection; watch: ProgressWatch }
  /** There is no process, or the next one has not been started yet. */
  | { phase: 'none' };

/** A supervised worker of one device: starts, watches, restarts and stops its process. */
export class DeviceWorker {
  readonly device: string;
  private readonly options: DeviceWorkerOptions;
  private readonly emit: (event: DeviceWorkerEvent) => void;
  private readonly restarts: Restarts;
  private readonly look = new RegularLook((now, heldUpMs) => this.checkDeadlines(now, heldUpMs));
  private life: Life = { phase: 'none' };
  private load: LoadCommand | null = null;
  /** Why the process is about to end, if the engine itself has found the reason. */
  private verdict: AppError | undefined;
  private stopping = false;
  private stalls = false;
  /** The process that is about to end. */
  private ending: WorkerConnection | undefined;
  /** Parts that were assigned to the process and are not reported yet. */
  private readonly held = new Set<string>();

  constructor(options: DeviceWorkerOptions, emit: (event: DeviceWorkerEvent) => void) {
    this.device = options.device;
    this.options = options;
    this.emit = emit;
    this.restarts = new Restarts(() => this.start(), options.restartDelayMs);
  }

  start(): void {
    const { launch, deadlines } = this.options;
    const worker: WorkerConnection = launch((event) => {
      this.take(event, worker);
    });
    this.life = { phase: 'starting', worker, watch: new StartWatch(deadlines.helloMs, performance.now()) };
    this.emit({ type: 'worker_starting', device: this.device });
  }

  /** 0 until it is ready. */
  get pid(): number {
    return this.life.phase === 'ready' ? (this.life.worker.pid ?? 0) : 0;
  }

  assign(part: PartCommand): void {
    if (this.life.phase !== 'ready') throw new Error(`worker ${this.device} is not ready`);
    this.held.add(part.part);
    this.life.watch.holds(this.held.size, performance.now());
    this.life.worker.writeLog(`assign ${part.part} frames ${part.frame_begin}-${part.frame_end}`);
    this.life.worker.send(part);
  }

  recall(part: string): void {
    if (this.life.phase === 'ready') this.life.worker.send({ type: 'recall', part });
  }

  /**
   * Ends the process after the current batch. A process that is already ending gets no more time than this.
   * With `leave` a worker that has nothing to do is left to the next run, if there is a place for it.
   */
  async stop(graceMs = STOP_GRACE_MS, leave = false): Promise<void> {
    const { life } = this;
    const isFree = life.phase === 'ready' && this.held.size === 0 && !this.verdict;
    this.abandon();
    if (leave && isFree && life.worker.rest?.()) return;
    if (life.phase !== 'none') {
      life.worker.send({ type: 'stop' });
      this.ending = life.worker;
    }
    await this.ending?.stop(graceMs);
  }

  /** The device has left, and the worker with it: further events of either are ignored. */
  abandon(): void {
    this.stopping = true;
    this.look.stop();
    this.restarts.cancel();
    this.life = { phase: 'none' };
  }

  private take(event: ProcessEvent<WorkerEvent>, worker: WorkerConnection): void {
    switch (event.type) {
      case 'message':
        this.takeMessage(event.message, worker);
        break;
      case 'fault':
        this.verdict ??= event.error;
        break;
      case 'exit':
        this.onExit(event.exit);
        break;
    }
  }

  private takeMessage(message: WorkerEvent, worker: WorkerConnection): void {
    const { device, emit } = this;
    const { deadlines } = this.options;
    if (this.life.phase === 'ready') this.life.watch.message(performance.now());
    switch (message.type) {
      case 'hello':
        this.life = { phase: 'loading', worker, watch: new StartWatch(deadlines.loadMs, performance.now()) };
        emit({ type: 'worker_loading', device });
        this.load ??= this.options.load();
        worker.send(this.load);
        break;
      case 'ready':
        if (message.model_hash !== this.options.modelHash) {
          this.verdict = appError('worker_load_failed', sentence('worker.other_model'));
          this.restarts.giveUp();
          worker.kill();
          break;
        }
        this.life = { phase: 'ready', worker, watch: new ProgressWatch(deadlines, performance.now()) };
        emit({ type: 'worker_ready', device, ready: message });
        break;
      case 'load_failed':
        this.verdict = { ...errorOf(message), detail: message.detail };
        // A missing or unsupported requirement does not change: only an unexplained failure is worth a
        // restart.
        if (message.code !== 'worker_load_failed') this.restarts.giveUp();
        worker.kill();
        break;
      case 'progress':
        emit({ type: 'part_progress', device, progress: message });
        break;
      case 'part_done':
        this.settled(message.part);
        this.restarts.progress();
        emit({ type: 'part_done', device, done: message });
        break;
      case 'part_failed':
        this.settled(message.part);
        emit({ type: 'part_failed', device, failed: message });
        break;
      case 'oom':
        emit({ type: 'out_of_memory', device, oom: message });
        break;
      case 'heartbeat':
        if (this.life.phase === 'ready') this.life.watch.heartbeat(message, performance.now());
        emit({ type: 'heartbeat', device, beat: message });
        break;
      case 'log':
        emit({
          ...{ type: 'worker_note', device, message: message.message },
          level: message.level === 'debug' ? 'info' : message.level,
        });
        break;
      case 'bye':
        break;
    }
  }

  private settled(part: string): void {
    this.held.delete(part);
    if (this.life.phase === 'ready') this.life.watch.holds(this.held.size, performance.now());
  }

  private checkDeadlines(now: number, heldUpMs: number): void {
    if (heldUpMs > 0) this.emit({ type: 'held_up', device: this.device });
    if (this.life.phase === 'none') return;
    const { watch, worker } = this.life;
    watch.forgive(heldUpMs);
    const stalls = watch instanceof ProgressWatch && watch.stalls(now);
    if (stalls !== this.stalls) this.emit({ type: 'stalls', device: this.device, stalls });
    this.stalls = stalls;
    const missed = watch.missed(now);
    if (missed) this.condemn(appError(missed.code, `The worker of ${this.device} ${missed.words}.`), worker);
  }

  private condemn(error: AppError, worker: WorkerConnection): void {
    if (this.verdict) return;
    this.verdict = error;
    worker.writeLog(`killed: ${error.cause}`);
    worker.kill();
  }

  private onExit(exit: ProcessExit): void {
    this.held.clear();
    if (this.stopping) return;
    const error = this.verdict ?? this.unexplained(exit);
    this.verdict = undefined;
    this.life = { phase: 'none' };
    const restartAttempt = this.restarts.died();
    if (restartAttempt === null) this.look.stop();
    this.emit({ type: 'worker_died', device: this.device, error, restartAttempt });
  }

  /**
   * Both a damaged or hostile weights file and a driver can crash the process, so the error for a crash while
   * loading names both.
   */
  private unexplained(exit: ProcessExit): AppError {
    const how = exitMessage(exit);
    const values = { device: this.device, how };
    const detail = exit.lastLines.join('\n');
    const crashed = how.wording?.key === 'exit.crashed' || how.wording?.key === 'exit.access_violation';
    if (!crashed || this.life.phase !== 'loading' || !this.load)
      return appError('worker_died', sentence('worker.stopped', values), { detail });
    const cause = sentence('worker.stopped_loading', { ...values, folder: this.load.model_folder });
    return appError('worker_died', cause, { detail });
  }
}

/** One deadly sequence ends up to four workers in a row; two of them must not make a healthy device look broken. */
const RESTARTS_WITHOUT_PROGRESS = 6;

/** Restarts a process that has died, with growing delays; gives up after several restarts without progress. */
export class Restarts {
  private readonly start: () => void;
  private readonly baseDelayMs: number;
  private deathsWithoutProgress = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(start: () => void, baseDelayMs: number) {
    this.start = start;
    this.baseDelayMs = baseDelayMs;
  }

  progress(): void {
    this.deathsWithoutProgress = 0;
  }

  /** The cause of the death is permanent, so no further start is attempted. */
  giveUp(): void {
    this.deathsWithoutProgress = Number.POSITIVE_INFINITY;
  }

  /** Returns the number of the next attempt; null if the process is not started again. */
  died(): number | null {
    this.deathsWithoutProgress += 1;
    if (this.deathsWithoutProgress > RESTARTS_WITHOUT_PROGRESS) return null;
    this.timer = setTimeout(this.start, this.baseDelayMs * 2 ** (this.deathsWithoutProgress - 1));
    return this.deathsWithoutProgress;
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}
