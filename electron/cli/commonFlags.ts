import { appendFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option, type Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { usage } from '../contract/errors.ts';
import { createReporter, type Reporter, type ReporterKind } from './output/reporter.ts';
import { logTo } from './output/terminal.ts';
import { parseGoal, type Goal } from '../contract/goal.ts';

/** Flags that commands accept where they have an effect. */
export interface CommonFlags {
  python?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  logFile?: string;
  progress?: boolean;
  tmpdir?: string;
}

const FLAGS = {
  python: '--python <path>',
  json: '--json',
  quiet: '-q, --quiet',
  verbose: '-v, --verbose',
  logFile: '-l, --log-file <file>',
} as const;
type Flag = keyof typeof FLAGS;

const FOLLOWING_A_RUN = [
  'virnucpro',
  'predict',
  'prepare',
  'compute',
  'finish',
  'merge',
  'import-legacy',
  'resume',
  'example',
];
const ANSWERING = ['status', 'validate', 'doctor', 'setup', 'pack-offline', 'models'];

/**
 * The help text of a flag for a command: a command that follows a run reports events, most others print one
 * answer.
 */
function whatItDoes(flag: Flag, command: string): string {
  const followsRun = FOLLOWING_A_RUN.includes(command);
  switch (flag) {
    case 'python':
      return 'use this Python interpreter as it is';
    case 'json':
      return followsRun
        ? 'write events as JSON lines to standard output'
        : 'write the answer as JSON to standard output';
    case 'quiet':
      return ANSWERING.includes(command)
        ? 'say only the answer, and what is wrong'
        : 'say only what is wrong';
    case 'verbose':
      if (followsRun)
        return "say more: details of errors, how each device does, and every batch in the workers' logs";
      return command === 'serve'
        ? "say more: details of errors, and every batch in the workers' logs"
        : 'say more: details of errors';
    case 'logFile':
      return 'also write all messages to a log file';
  }
}

/** Adds the shared flags to a command, except those that would have no effect there. */
export function common(command: Command, ...without: readonly Flag[]): Command {
  for (const flag of Object.keys(FLAGS) as Flag[]) {
    const flags = FLAGS[flag];
    if (!without.includes(flag)) command.option(flags, whatItDoes(flag, command.name()));
    // Scripts pass it to every command; a command that needs no Python ignores it.
    else if (flag === 'python') command.addOption(new Option(flags).hideHelp());
  }
  // Means TMPDIR. It is not accepted before the command, from where it would have to be passed on.
  if (FOLLOWING_A_RUN.includes(command.name()) && command.name() !== 'virnucpro')
    command.addOption(new Option('--tmpdir <folder>').hideHelp());
  return command.addOption(new Option('--no-progress').hideHelp());
}

/** Gives a command the flags that preceded it; refuses those that have no effect there. Starts the log. */
export function passOn(program: Command, command: Command): void {
  const known = (name: string): boolean => command.options.some((option) => option.attributeName() === name);
  for (const [name, value] of Object.entries(program.opts<CommonFlags>())) {
    if (program.getOptionValueSource(name) !== 'cli') continue;
    // Only our own commands have this option.
    if (!known(name) && known('progress')) {
      const given = program.options.find((option) => option.attributeName() === name);
      throw usage(`${given?.long ?? name} has no effect on "virnucpro ${command.name()}".`);
    }
    command.setOptionValue(name, value);
  }
  const { logFile, verbose, tmpdir } = command.opts<CommonFlags>();
  if (tmpdir !== undefined) setTemporaryFolder(tmpdir);
  // Workers inherit it with the environment.
  if (verbose === true) process.env['VIRNUCPRO_LOG_LEVEL'] ??= 'debug';
  if (logFile !== undefined) logTo(lineWriter(logFile));
}

/**
 * Sets the folder of this process and, through the environment, of all its children. Windows uses other
 * variable names.
 */
function setTemporaryFolder(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw usage(`--tmpdir: there is no folder ${folder}.`);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = resolve(folder);
}

/** Creates the reporter that these flags ask for. */
export async function reporterOf(flags: CommonFlags): Promise<Reporter> {
  const kind: ReporterKind =
    flags.json === true
      ? 'json'
      : flags.quiet === true
        ? 'quiet'
        : process.stderr.isTTY && flags.progress !== false
          ? 'table'
          : 'lines';
  return createReporter(kind, flags.verbose === true);
}

/** Appends lines with a timestamp; a log that cannot be written never stops a run. */
function lineWriter(path: string): (line: string) => void {
  return (line) => {
    try {
      appendFileSync(path, `${new Date().toISOString()} ${line}\n`);
    } catch {
      // The run is more important than its log.
    }
  };
}

/** The typed value if the contract allows it; else the error names its flag. Inputs have none. */
export function parsed<Schema extends z.ZodType>(schema: Schema, typed: unknown): z.output<Schema> {
  const outcome = schema.safeParse(typed);
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  const words = issue?.message ?? 'This is not understood.';
  const flag = issue?.path.filter((key) => typeof key === 'string' && key !== 'inputs').join('.') ?? '';
  throw usage(flag === '' ? words : `--${flag}: ${words}`);
}

/** The argument of `--until`: 0.5%, 30min; `end` for none. */
export function goalArgument(text: string): Goal | null {
  const goal = parseGoal(text);
  if (goal === null && text !== 'end')
    throw new InvalidArgumentError('Write a half width such as 0.5%, a time such as 30min or 8h, or end.');
  return goal;
}

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('Write a whole number above 0.');
  return value;
}

/** Parses a chunk length, or two for a second look: `500+300`. */
export function chunkLengths(text: string): number[] {
  const lengths = text.split('+').map(positiveInteger);
  if (lengths.length > 2)
    throw new InvalidArgumentError('Write one chunk length, such as 500, or two, such as 500+300.');
  return lengths;
}

/** Parses an amount in GB into bytes. */
export function gigabytes(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('Write a number of GB above 0.');
  return Math.round(value * 1e9);
}

export function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('Write a port number from 0 to 65535.');
  }
  return value;
}
