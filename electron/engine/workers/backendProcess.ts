import { Writable } from 'node:stream';
import { execa } from 'execa';
import type { z } from 'zod';
import { appError, type AppError } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { PROTOCOL_VERSION } from '../../contract/protocol/index.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { openLog } from '../files/runFiles.ts';
import type { ProcessExit } from './describeExit.ts';
import { recordProcess, type RecordedLaunch } from './processRecords.ts';

const LAST_LINES_KEPT = 40;

function spawn(launch: PythonLaunch) {
  return execa(launch.file, launch.args, {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    extendEnv: false,
    killDescendants: true,
    windowsHide: true,
    env: launch.env,
  });
}

/** Without its log a process can do its work: where that can't be written, or is a link, its lines are dropped. */
function openLogOrNone(path: string): Writable {
  try {
    return openLog(path);
  } catch {
    return new Writable({ write: (_chunk, _encoding, done) => done() });
  }
}

export type ProcessEvent<Message> =
  | { type: 'message'; message: Message }
  /** The channel is unusable: garbage, or a wrong protocol version. The process is being killed. */
  | { type: 'fault'; error: AppError }
  /** The last event. */
  | { type: 'exit'; exit: ProcessExit };

/** One Python process behind the line protocol: commands in, checked messages out, standard error to a log file. */
export class BackendProcess<Message extends { type: string }> {
  readonly pid: number | undefined;
  readonly ended: Promise<void>;
  private readonly subprocess: ReturnType<typeof spawn>;
  private readonly messages: z.ZodType<Message>;
  private readonly emit: (event: ProcessEvent<Message>) => void;
  private readonly log: Writable;
  private readonly forgetRecord: () => void;
  private readonly lastLines: string[] = [];
  private greeted = false;
  private faulted = false;

  constructor(
    launch: RecordedLaunch,
    logPath: string,
    messages: z.ZodType<Message>,
    emit: (event: ProcessEvent<Message>) => void,
  ) {
    this.messages = messages;
    this.emit = emit;
    this.log = openLogOrNone(logPath);
    // A full disk must not take the engine down for the sake of a log.
    this.log.on('error', () => undefined);
    this.subprocess = spawn(launch);
    this.pid = this.subprocess.pid;
    this.forgetRecord = recordProcess(launch, this.pid);
    // A write to a process that has just died fails here; its end is told by `exit`.
    this.subprocess.stdin.on('error', () => undefined);
    this.ended = this.follow();
  }

  send(command: object): void {
    if (this.subprocess.stdin.writable) this.subprocess.stdin.write(`${JSON.stringify(command)}\n`);
  }

  writeLog(line: string): void {
    if (!this.log.writableEnded) this.log.write(`${new Date().toISOString()} engine ${line}\n`);
  }

  /** Ends it by the ladder: closed standard input, SIGTERM, SIGKILL to the whole tree. */
  async stop(graceMs: number): Promise<void> {
    this.subprocess.stdin.end();
    const gentle = setTimeout(() => this.subprocess.kill('SIGTERM'), graceMs);
    const hard = setTimeout(() => this.subprocess.kill('SIGKILL'), graceMs * 2);
    await this.ended;
    clearTimeout(gentle);
    clearTimeout(hard);
  }

  kill(): void {
    this.subprocess.kill('SIGKILL');
  }

  private async follow(): Promise<void> {
    const [result] = await Promise.all([this.subprocess, this.readEvents(), this.readErrors()]);
    this.forgetRecord();
    const cause = result.originalMessage ?? result.shortMessage;
    if (result.exitCode === undefined && result.signal === undefined && cause) this.keepLine(cause);
    this.writeLog(`process ended: exit code ${result.exitCode ?? '-'}, signal ${result.signal ?? '-'}`);
    this.log.end();
    const { exitCode: code, signal } = result;
    this.emit({ type: 'exit', exit: { code, signal, lastLines: [...this.lastLines] } });
  }

  private async readEvents(): Promise<void> {
    try {
      for await (const line of this.subprocess.iterable({ from: 'stdout' })) {
        if (!this.faulted) this.take(line);
      }
    } catch {
      // The iterable throws when the process fails; its end is told by `exit`.
    }
  }

  private async readErrors(): Promise<void> {
    try {
      for await (const line of this.subprocess.iterable({ from: 'stderr' })) {
        this.keepLine(line);
        this.log.write(`${line}\n`);
      }
    } catch {
      // As above.
    }
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
    if (!this.greeted) {
      const version = (message as { protocol?: number }).protocol;
      if (message.type !== 'hello' || version !== PROTOCOL_VERSION) {
        this.fail(
          appError(
            'protocol_version',
            `The Python backend speaks protocol version ${version ?? 'unknown'}, this program version ${PROTOCOL_VERSION}.`,
          ),
        );
        return;
      }
      this.greeted = true;
    }
    this.emit({ type: 'message', message });
  }

  private fail(error: AppError): void {
    this.faulted = true;
    this.writeLog(`fault: ${error.cause} ${error.detail ?? ''}`);
    this.emit({ type: 'fault', error });
    this.kill();
  }

  private keepLine(line: string): void {
    this.lastLines.push(line);
    if (this.lastLines.length > LAST_LINES_KEPT) this.lastLines.shift();
  }
}
