import { appendFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { appError, AppFailure } from '../contract/errors.ts';
import { createReporter, type Reporter, type ReporterKind } from './output/reporter.ts';
import { logTo } from './output/terminal.ts';

/** What commands understand where it means something for them. */
export interface CommonFlags {
  python?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  logFile?: string;
  progress?: boolean;
}

const FLAGS = {
  python: ['--python <path>', 'use this Python interpreter as it is'],
  json: ['--json', 'write events as JSON lines to standard output'],
  quiet: ['-q, --quiet', 'say only what is wrong'],
  verbose: [
    '-v, --verbose',
    "say more: details of errors, how each device does, and every batch in the workers' logs",
  ],
  logFile: ['-l, --log-file <file>', 'write a log of what is said'],
} as const;
type Flag = keyof typeof FLAGS;

/** Offers a command the flags that all share, but for those that would have no effect there. */
export function common(command: Command, ...without: readonly Flag[]): Command {
  for (const flag of Object.keys(FLAGS) as Flag[]) {
    const [flags, description] = FLAGS[flag];
    if (!without.includes(flag)) command.option(flags, description);
    // Scripts give it to every command; where no Python is needed it changes nothing.
    else if (flag === 'python') command.addOption(new Option(flags).hideHelp());
  }
  return command.addOption(new Option('--no-progress').hideHelp());
}

/** Gives a command what stood before it; refuses what has no effect there. Starts the log. */
export function passOn(program: Command, command: Command): void {
  const known = (name: string): boolean => command.options.some((option) => option.attributeName() === name);
  for (const [name, value] of Object.entries(program.opts<CommonFlags>())) {
    if (program.getOptionValueSource(name) !== 'cli') continue;
    // Commands of the earlier tool take anything.
    if (!known(name) && known('progress')) {
      const [long = name] = FLAGS[name as Flag][0].split(', ').at(-1)?.split(' ') ?? [];
      throw new AppFailure(appError('usage', `${long} has no effect on "virnucpro ${command.name()}".`));
    }
    command.setOptionValue(name, value);
  }
  const { logFile, verbose } = command.opts<CommonFlags>();
  // Workers have it with the rest of the environment.
  if (verbose === true) process.env['VIRNUCPRO_LOG_LEVEL'] ??= 'debug';
  if (logFile !== undefined) logTo(lineWriter(logFile));
}

/** Reports on a run in the way that these flags ask for. */
export function reporter(flags: CommonFlags): Reporter {
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

/** Appends lines with their time; a log that cannot be written never stops a run. */
function lineWriter(path: string): (line: string) => void {
  return (line) => {
    try {
      appendFileSync(path, `${new Date().toISOString()} ${line}\n`);
    } catch {
      // The run matters more than its log.
    }
  };
}
