import type { AppError } from '../../../contract/errors.ts';
import type { PoolCommand, PoolEvent, WorkerCommand, WorkerEvent } from '../../../contract/protocol/index.ts';
import type { ProcessEvent } from '../backendProcess.ts';
import type { ProcessExit } from '../describeExit.ts';
import { wrongGreeting } from '../greeting.ts';
import { ProcessLog } from '../processLog.ts';
import type { WorkerConnection } from './workerConnection.ts';

export interface PoolPatience {
  /** A worker's end may be heard of before that of its node: then it was not the part's fault. */
  nodeLossMs: number;
  /** For a pool to confirm that a worker is dead: another one must not be started beside it. */
  confirmMs: number;
}
const LONGEST_LAST_LINE = 2_000;
const LAST_LINES_KEPT = 40;

type WorkerExit = Extract<PoolEvent, { type: 'worker_exit' }>;

interface PoolWorkerOptions {
  device: string;
  logPath: string;
  send: (command: PoolCommand) => void;
  /** The pool was asked to kill the worker and has not confirmed its end. */
  unconfirmed: () => void;
  patience: PoolPatience;
}

/** A worker on another computer: its lines, one by one, as its pool hands them on. */
export class PoolWorker implements WorkerConnection {
  readonly pid = null;
  private readonly options: PoolWorkerOptions;
  private readonly emit: (event: ProcessEvent<WorkerEvent>) => void;
  private readonly log: ProcessLog;
  private readonly ended: Promise<void>;
  private resolveEnded: () => void = () => undefined;
  private readonly timers: NodeJS.Timeout[] = [];
  private greeted = false;
  private faulted = false;
  private over = false;
  /** It has been asked to end. */
  private ending = false;

  constructor(options: PoolWorkerOptions, emit: (event: ProcessEvent<WorkerEvent>) => void) {
    this.options = options;
    this.emit = emit;
    this.log = new ProcessLog(options.logPath);
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
    this.tell({ type: 'start_worker', device: options.device });
  }

  send(command: WorkerCommand): void {
    this.tell({ type: 'worker_command', device: this.options.device, command });
  }

  writeLog(line: string): void {
    this.log.write(`${new Date().toISOString()} engine ${line}`);
  }

  async stop(graceMs: number): Promise<void> {
    this.ending = true;
    this.tell({ type: 'end_worker', device: this.options.device, grace_seconds: graceMs / 1000 });
    this.after(2 * graceMs, () => this.kill());
    await this.ended;
  }

  kill(): void {
    this.ending = true;
    this.tell({ type: 'kill_worker', device: this.options.device });
    this.after(this.options.patience.confirmMs, this.options.unconfirmed);
  }

  /** What it says, handed on by its pool. */
  take(message: WorkerEvent): void {
    if (this.faulted || this.over) return;
    const wrong = this.greeted ? null : wrongGreeting(message);
    if (wrong) {
      this.fail(wrong);
      return;
    }
    this.greeted = true;
    this.emit({ type: 'message', message });
  }

  /** The pool says that it has ended. Its device is free for another one when that is believed. */
  exited({ exit_code, signal, last_lines }: WorkerExit): void {
    const exit = {
      code: exit_code ?? undefined,
      signal: signal ?? undefined,
      lastLines: last_lines.slice(-LAST_LINES_KEPT).map((line) => line.slice(0, LONGEST_LAST_LINE)),
    };
    if (this.ending) this.end(exit);
    else this.after(this.options.patience.nodeLossMs, () => this.end(exit));
  }

  /** Its device is no longer there, nor is it. */
  lost(reason: string): void {
    this.end({ code: undefined, signal: undefined, lastLines: [reason] });
  }

  private end(exit: ProcessExit): void {
    if (this.over) return;
    this.over = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const line of exit.lastLines) this.log.write(line);
    this.log.end(
      `${new Date().toISOString()} engine worker ended: exit code ${exit.code ?? '-'}, signal ${exit.signal ?? '-'}`,
    );
    this.emit({ type: 'exit', exit });
    this.resolveEnded();
  }

  private fail(error: AppError): void {
    this.faulted = true;
    this.writeLog(`fault: ${error.cause}`);
    this.emit({ type: 'fault', error });
    this.kill();
  }

  private tell(command: PoolCommand): void {
    if (!this.over) this.options.send(command);
  }

  private after(milliseconds: number, act: () => void): void {
    if (!this.over) this.timers.push(setTimeout(act, milliseconds));
  }
}

/** Of a device that has just left: nothing was started, and nothing is heard. */
export const GONE: WorkerConnection = {
  pid: null,
  send: () => undefined,
  writeLog: () => undefined,
  stop: () => Promise.resolve(),
  kill: () => undefined,
};
