import { appendFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AppPaths } from '../../environment/appPaths.ts';
import { replaceFile } from '../../files/replaceFile.ts';

const LARGEST_BYTES = 512 * 1024;
const LINES_IN_DIAGNOSTICS = 60;

export type LogLevel = 'info' | 'warning' | 'error';

/** A log of the desktop app itself, not of a run: it must work even if nothing else could start. */
export class ShellLog {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (existsSync(file) && statSync(file).size > LARGEST_BYTES) replaceFile(file, previous(file));
    } catch {
      // A log that cannot be written must not keep the window from opening.
    }
  }

  /**
   * Writes at once, since the program may end before the next line. Line breaks are folded, so that an entry
   * is one line.
   */
  write(level: LogLevel, message: string): void {
    const line = message.trim().replaceAll(/\s*[\r\n]+\s*/g, ' | ');
    try {
      appendFileSync(this.file, `${new Date().toISOString()} ${level} ${line}\n`);
    } catch {
      // See above.
    }
  }
}

export function shellLogFile({ dataDir }: Pick<AppPaths, 'dataDir'>): string {
  return join(dataDir, 'logs', 'shell.log');
}

/** The newest lines, including those of the previous file; none if the desktop app has never run. */
export async function latestShellLog(paths: Pick<AppPaths, 'dataDir'>): Promise<string[]> {
  const file = shellLogFile(paths);
  const texts = await Promise.all([previous(file), file].map((one) => readFile(one, 'utf8').catch(() => '')));
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .slice(-LINES_IN_DIAGNOSTICS);
}

function previous(file: string): string {
  return `${file}.1`;
}
