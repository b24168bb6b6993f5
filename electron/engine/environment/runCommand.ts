/** Runs one short command to its end and returns its outcome; never throws. */
import { createInterface } from 'node:readline';
import { execa } from 'execa';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with every line of standard output and standard error as it arrives. */
  readonly onLine?: (line: string) => void;
}

export interface CommandOutcome {
  readonly ending: 'succeeded' | 'failed' | 'not_started' | 'timed_out' | 'cancelled';
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** One line for a log: the command and how it ended. */
  readonly summary: string;
}

export type CommandRunner = (command: Command) => Promise<CommandOutcome>;

export const runCommand: CommandRunner = async (command) => {
  const subprocess = execa(command.file, command.args, {
    env: command.env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    killDescendants: true,
    windowsHide: true,
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
    ...(command.timeoutMs === undefined ? {} : { timeout: command.timeoutMs }),
    ...(command.signal === undefined ? {} : { cancelSignal: command.signal }),
  });
  const { onLine } = command;
  if (onLine) {
    for (const input of [subprocess.stdout, subprocess.stderr])
      createInterface({ input, crlfDelay: Infinity }).on('line', (line) => {
        if (line.trim()) onLine(line.trim());
      });
  }
  const result = await subprocess;
  return {
    ending: endingOf(result),
    exitCode: result.exitCode,
    stdout: result.stdout,
    stderr: result.stderr,
    summary: result.shortMessage ?? result.escapedCommand,
  };
};

function endingOf(result: {
  failed: boolean;
  timedOut: boolean;
  isCanceled: boolean;
  exitCode?: number | undefined;
  signal?: string | undefined;
}): CommandOutcome['ending'] {
  if (!result.failed) return 'succeeded';
  if (result.isCanceled) return 'cancelled';
  if (result.timedOut) return 'timed_out';
  return result.exitCode === undefined && result.signal === undefined ? 'not_started' : 'failed';
}
