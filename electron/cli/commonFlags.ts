import { appendFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { createReporter, type Reporter, type ReporterKind } from './output/reporter.ts';

/** What every command understands. */
export interface CommonFlags {
  python?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  logFile?: string;
  progress?: boolean;
}

export function common(command: Command): Command {
  return command
    .option('--python <path>', 'use this Python interpreter as it is')
    .option('--json', 'write events as JSON lines to standard output')
    .option('-q, --quiet', 'say only what is wrong')
    .option('-v, --verbose', 'say more')
    .option('-l, --log-file <file>', 'write a log of what is said')
    .addOption(new Option('--no-progress').hideHelp());
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
  return createReporter(kind, logTo(flags.logFile), flags.verbose === true);
}

/** Appends lines with their time; a log that cannot be written never stops a run. */
function logTo(path: string | undefined): (line: string) => void {
  if (path === undefined) return () => undefined;
  return (line) => {
    try {
      appendFileSync(path, `${new Date().toISOString()} ${line}\n`);
    } catch {
      // The run matters more than its log.
    }
  };
}
