import { execa } from 'execa';
import { message, type Message } from '../../contract/messages.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { finished } from 'node:stream/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppFailure, appFailure } from '../../contract/errors.ts';
import { READING_SILENT_MS } from '../system/regularFile.ts';
import { RegularLook } from './deadlines.ts';

const LAST_LINES_KEPT = 40;
/** A message can contain a header line, which may have a few dozen megabytes. */
const LONGEST_MESSAGE = 1 << 26;
/** Limit for lines of standard error, which people read. */
const LONGEST_ERROR_LINE = 1 << 14;
/**
 * Time to read the last output of a process that has exited. Its children may keep its pipes open for as long
 * as they live.
 */
const PIPES_AFTER_EXIT_MS = 2_000;
/**
 * A process that still exists after this time waits for a disk or a driver, and nothing that we could do ends
 * it.
 */
const GIVE_UP_MS = 10_000;

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

export interface ProcessExit {
  code: number | undefined;
  signal: string | undefined;
  /** The last lines of standard error. */
  lastLines: readonly string[];
}

interface ChildListener {
  /** Called with a line of standard output. */
  line: (line: string) => void;
  /** Called with a line of standard error, cut if it is very long. */
  errorLine?: (line: string) => void;
  /** Called if the process wrote a line without an end, which cannot be kept. The process is being killed. */
  overlong?: () => void;
}

/**
 * A child process that cannot use unlimited memory or time, whatever it does: the length of lines is limited,
 * it counts as ended even if its own children hold its pipes, and it is abandoned if it cannot be killed.
 */
export class ChildProcess {
  readonly pid: number | undefined;
  readonly ended: Promise<ProcessExit>;
  private readonly subprocess: ReturnType<typeof spawn>;
  private readonly lastLines: string[] = [];
  private giveUp: () => void = () => undefined;
  private killTimer: NodeJS.Timeout | undefined;
  /** The process is ending or has ended: the little that it still writes is read at once or lost. */
  private ending = false;

  constructor(launch: PythonLaunch, listener: ChildListener) {
    this.subprocess = spawn(launch);
    this.pid = this.subprocess.pid;
    // Writing to a process that has just died fails here; `ended` reports its end.
    this.subprocess.stdin.on('error', () => undefined);
    const streams = [
      this.read(this.subprocess.stdout, listener.line, listener.overlong),
      this.read(this.subprocess.stderr, (whole) => {
        const line = whole.slice(0, LONGEST_ERROR_LINE);
        this.lastLines.push(line);
        if (this.lastLines.length > LAST_LINES_KEPT) this.lastLines.shift();
        listener.errorLine?.(line);
      }),
    ];
    this.ended = this.follow(streams).finally(() => {
      clearTimeout(this.killTimer);
    });
  }

  write(text: string): void {
    if (this.subprocess.stdin.writable) this.subprocess.stdin.write(text);
  }

  closeInput(): void {
    this.subprocess.stdin.end();
  }

  /** Reads no more output until `release`; the process blocks meanwhile. */
  hold(): void {
    if (!this.ending) this.subprocess.stdout.pause();
  }

  release(): void {
    this.subprocess.stdout.resume();
  }

  /**
   * Ends the process in steps: it closes standard input, then sends SIGTERM, then SIGKILL to the whole tree.
   */
  async stop(graceMs: number): Promise<void> {
    this.closeInput();
    // A full pipe must not keep the process from ending.
    this.takeRest();
    const gentle = setTimeout(() => this.subprocess.kill('SIGTERM'), graceMs);
    const hard = setTimeout(() => this.kill(), graceMs * 2);
    await this.ended;
    clearTimeout(gentle);
    clearTimeout(hard);
  }

  kill(): void {
    this.subprocess.kill('SIGKILL');
    this.killTimer ??= setTimeout(() => this.giveUp(), GIVE_UP_MS);
  }

  private async follow(streams: readonly Promise<void>[]): Promise<ProcessExit> {
    const exited = new Promise<Pick<ProcessExit, 'code' | 'signal'>>((resolve) => {
      this.subprocess.nodeChildProcess.once('exit', (code, signal) =>
        resolve({ code: code ?? undefined, signal: signal ?? undefined }),
      );
      this.giveUp = () => resolve({ code: undefined, signal: 'SIGKILL' });
    });
    const failed = this.subprocess.then((result) => {
      const cause = result.originalMessage ?? result.shortMessage;
      // There is a cause only if the process could not be started; otherwise its own exit comes first.
      if (result.exitCode === undefined && result.signal === undefined && cause) this.lastLines.push(cause);
      return { code: result.exitCode, signal: result.signal };
    });
    const exit = await Promise.race([exited, failed]);
    this.takeRest();
    await Promise.race([Promise.all(streams), sleep(PIPES_AFTER_EXIT_MS, undefined, { ref: false })]);
    this.subprocess.stdout.destroy();
    this.subprocess.stderr.destroy();
    // Kills the rest of its process tree, if there is any.
    this.subprocess.kill('SIGKILL');
    return { ...exit, lastLines: [...this.lastLines] };
  }

  private takeRest(): void {
    this.ending = true;
    this.release();
  }

  private read(stream: Readable, onLine: (line: string) => void, onOverlong?: () => void): Promise<void> {
    let unended = 0;
    stream.on('data', (bytes: Buffer) => {
      const end = bytes.lastIndexOf('\n');
      unended = end < 0 ? unended + bytes.length : bytes.length - end;
      if (unended <= LONGEST_MESSAGE) return;
      onOverlong?.();
      this.kill();
      stream.destroy();
    });
    createInterface({ input: stream, crlfDelay: Infinity }).on('line', onLine);
    return finished(stream, { writable: false }).catch(() => undefined);
  }
}

const WINDOWS_STATUS: Readonly<Record<number, Message>> = {
  0xc0000005: message('exit.access_violation'),
  0xc0000374: message('exit.heap_corruption'),
  0xc0000135: message('exit.library_missing'),
  0xc0000142: message('exit.library_failed'),
};

/** Describes in plain words how a process ended. */
export function describeExit(exit: ProcessExit): string {
  return exitMessage(exit).text;
}

export function exitMessage(exit: ProcessExit): Message {
  if (exit.signal === 'SIGKILL' || exit.code === 137) return message('exit.killed');
  if (exit.signal === 'SIGSEGV' || exit.code === 139) return message('exit.crashed');
  if (exit.signal) return message('exit.signal', { signal: exit.signal });
  if (exit.code === undefined) return message('exit.not_started');
  const known = WINDOWS_STATUS[exit.code >>> 0];
  if (known) return known;
  const line = exit.lastLines.findLast((one) => one.trim() !== '')?.trim();
  return line
    ? message('exit.code_line', { code: exit.code, line })
    : message('exit.code', { code: exit.code });
}

const READING_GRACE_MS = 1_000;

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
    await this.child.stop(READING_GRACE_MS);
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
    this.fault = appFailure('input_unreadable', cause, { nextStep });
    this.child.kill();
  }
}
