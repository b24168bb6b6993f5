import { appendFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AppPaths } from '../../environment/appPaths.ts';
import { replaceFile } from '../../files/replaceFile.ts';

const LARGEST_BYTES = 512 * 1024;
const LINES_IN_DIAGNOSTICS = 60;

export type LogLevel = 'info' | 'warning' | 'error';

/** What happens to the desktop app itself, not to a run: it must be there when nothing else could start. */
export class ShellLog {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      if (existsSync(file) && statSync(file).size > LARGEST_BYTES) replaceFile(file, previous(file));
    } catch {
      // A disk that takes no log must not keep the window from opening.
    }
  }

  /** At once, since the next line may be one that is never reached. Line breaks are folded: an entry is a line. */
  write(level: LogLevel, message: string): void {
    const line = message.trim().replaceAll(/\s*[\r\n]+\s*/g, ' | ');
    try {
      appendFileSync(this.file, `${new Date().toISOString()} ${level} ${line}\n`);
    } catch {
      // As above.
    }
  }
}

export function shellLogFile({ dataDir }: Pick<AppPaths, 'dataDir'>): string {
  return join(dataDir, 'logs', 'shell.log');
}

/** The newest lines, also of the file before; none where the desktop app has never run. */
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
