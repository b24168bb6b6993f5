import type { z } from 'zod';
import { appError, type AppError, AppFailure } from '../../contract/errors.ts';
import {
  PROTOCOL_VERSION,
  workerEventSchema,
  type WorkerCommand,
  type WorkerEvent,
} from '../../contract/protocol/index.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { ChildProcess, type ProcessExit } from './childProcess.ts';
import { ProcessLog } from './processLog.ts';
import { READING_SILENT_MS } from '../system/regularFile.ts';
import { RegularLook } from './deadlines.ts';

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
  private readonly emit: (event: ProcessEvent<Message>) => void;
  private readonly log: ProcessLog;
  private greeted = false;
  private faulted = false;

  constructor(
    launch: PythonLaunch,
    logPath: string,
    messages: z.ZodType<Message>,
    emit: (event: ProcessEvent<Message>) => void,
  ) {
    this.messages = messages;
    this.emit = emit;
    this.log = new ProcessLog(logPath);
    this.child = new ChildProcess(launch, {
      line: (line) => {
        if (!this.faulted) this.take(line);
      },
      errorLine: (line) => this.log.write(line),
      overlong: () =>
        this.fail(appError('protocol_garbage', 'The Python process wrote a line that does not end.')),
    });
    this.ended = this.child.ended.then((exit) => {
      this.log.end(
        this.logLine(`process ended: exit code ${exit.code ?? '-'}, signal ${exit.signal ?? '-'}`),
      );
      this.emit({ type: 'exit', exit });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  send(command: object): void {
    this.child.write(`${JSON.stringify(command)}\n`);
  }

  writeLog(line: string): void {
    this.log.write(this.logLine(line));
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

  /** Reads no more messages until `goOn`; the process blocks meanwhile. */
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
  readonly pid: number | null;
  send(command: WorkerCommand): void;
  /** Writes to the worker's log. */
  writeLog(line: string): void;
  /** Ends the worker after the current batch, by force if that takes longer. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

/**
 * Starts a worker, whose exit is always the last event. Nothing is emitted before the launcher has returned.
 */
export type WorkerLauncher = (emit: (event: ProcessEvent<WorkerEvent>) => void) => WorkerConnection;

/** Starts workers as processes on this computer. */
export function localLauncher(launch: PythonLaunch, logPath: string): WorkerLauncher {
  return (emit) => {
    const process = new BackendProcess(launch, logPath, workerEventSchema, emit);
    return {
      pid: process.pid ?? null,
      send: (command) => process.send(command),
      writeLog: (line) => process.writeLog(line),
      stop: (graceMs) => process.stop(graceMs),
      kill: () => process.kill(),
    };
  };
}

const STOP_GRACE_MS = 1_000;

/** A process that reads inputs and answers in lines. It is killed if it writes nothing for long. */
export class ReadingProcess {
  private readonly child: ChildProcess;
  private readonly silentMs: number;
  private readonly watch = new RegularLook((now, heldUpMs) => this.look(now, heldUpMs));
  /** Null until the process has received its command. */
  private lastWordAt: number | null = null;
  private fault: AppFailure | undefined;

  constructor(launch: PythonLaunch, onLine: (line: string) => void, silentMs = READING_SILENT_MS) {
    this.silentMs = silentMs;
    this.child = new ChildProcess(launch, {
      line: (line) => {
        this.lastWordAt = performance.now();
        onLine(line);
      },
      overlong: () => this.condemn('The process that reads the files wrote a line that does not end.'),
    });
  }

  /** Sends the complete command. From then on the process must give signs of life. */
  send(text: string): void {
    this.lastWordAt = performance.now();
    this.child.write(text);
    this.child.closeInput();
  }

  /** Resolves when the process has ended. Rejects with AppFailure if it had to be killed. */
  async ended(): Promise<ProcessExit> {
    const exit = await this.child.ended;
    this.watch.stop();
    if (this.fault) throw this.fault;
    return exit;
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    this.watch.stop();
    await this.child.stop(STOP_GRACE_MS);
  }

  private look(now: number, heldUpMs: number): void {
    if (this.lastWordAt === null) return;
    this.lastWordAt += heldUpMs;
    if (now - this.lastWordAt <= this.silentMs) return;
    this.condemn(`Reading the files has not advanced for ${Math.round(this.silentMs / 60_000)} minutes.`);
  }

  private condemn(cause: string): void {
    if (this.fault) return;
    const nextStep = 'Check the disk with the files, then try again.';
    this.fault = new AppFailure(appError('input_unreadable', cause, { nextStep }));
    this.child.kill();
  }
}
