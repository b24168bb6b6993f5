import { existsSync, closeSync, fstatSync, readSync, realpathSync } from 'node:fs';
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { join, isAbsolute, relative, sep } from 'node:path';
import { AppFailure, asAppError, usage } from '../../../contract/errors.ts';
import { isOurName, SHORTLIST_FILE } from '../../../contract/folderNames.ts';
import { isRunFolder, removeRun, removeWork, acquireRunLock } from '../../store/runFolder.ts';
import { message } from '../../../contract/messages.ts';
import { openPlain, pathInRun } from '../../system/runFiles.ts';
import { MAIN_FILES, NOTICE_FILE, RESULT_FILES } from '../../../contract/results.ts';
import type { RunFile } from '../../../contract/rpc/runs.ts';

/**
 * Size of this program's files in a run's folder, which deleting the run would free. Targets of links stay,
 * and aren't counted.
 */
export async function runFolderSize(folder: string): Promise<{ bytes: number; files: number }> {
  const total = { bytes: 0, files: 0 };
  const add = async (path: string): Promise<void> => {
    const info = await lstat(path).catch(() => undefined);
    if (!info?.isFile()) return;
    total.bytes += info.size;
    total.files += 1;
  };
  for (const name of (await readdir(folder).catch(() => [])).filter(isOurName)) {
    const path = join(folder, name);
    const info = await lstat(path).catch(() => undefined);
    if (info?.isFile()) await add(path);
    if (!info?.isDirectory()) continue;
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) await add(join(entry.parentPath, entry.name));
  }
  return total;
}

/** Deletes this program's files, and the folder itself if it is then empty; or only those that no result needs. */
export async function deleteRunFiles(folder: string, files: 'work' | 'all'): Promise<void> {
  if (!existsSync(folder) || !isRunFolder(folder)) return;
  const lock = await acquireRunLock(folder);
  try {
    if (files === 'work') removeWork(folder, true);
    else await removeRun(folder);
  } catch (reason) {
    throw new AppFailure(asAppError(reason));
  } finally {
    lock.release();
  }
  // Fails if other files are left, as intended.
  if (files === 'all') await rmdir(folder).catch(() => undefined);
}

/** More than the size of any 5,000 lines that this program writes. */
const MOST_BYTES = 2_000_000;

export interface LogText {
  text: string;
  /** Whether there are earlier lines. */
  truncated: boolean;
}

/**
 * Reads the end of a log file. Only files in the run's own logs/ are read, whatever the path says, and no
 * links.
 */
export function readLog(folder: string, path: string, lines: number): LogText {
  const name = nameInRun(folder, path);
  if (!/^logs\/[^/]+$/.test(name)) {
    throw usage('Only the logs of the run can be read here.', 'Choose one of its logs.');
  }
  const descriptor = openLogFile(folder, name);
  try {
    const { size } = fstatSync(descriptor);
    const start = Math.max(0, size - MOST_BYTES);
    const buffer = Buffer.alloc(size - start);
    const bytesRead = readSync(descriptor, buffer, 0, buffer.length, start);
    const all = buffer.subarray(0, bytesRead).toString('utf8').trimEnd().split('\n');
    const kept = all.slice(-lines);
    return { text: kept.join('\n'), truncated: start > 0 || kept.length < all.length };
  } finally {
    closeSync(descriptor);
  }
}

function openLogFile(folder: string, name: string): number {
  try {
    return openPlain(pathInRun(folder, name), 'read');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw usage(message('log.none'));
  }
}

/** The path below the run's folder, with slashes: `logs/prepare.log`. */
function nameInRun(folder: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const [below, real] = [relative(folder, path), relative(realpathSync(folder), path)];
  return (below.startsWith('..') ? real : below).split(sep).join('/');
}

/**
 * The result files in a run's folder, and those of `others` that exist, by importance, then by name. Only
 * regular, non-empty files without links.
 */
export async function resultFiles(folder: string, others: readonly string[]): Promise<RunFile[]> {
  const wanted = new Set<string>([...Object.values(RESULT_FILES), NOTICE_FILE, SHORTLIST_FILE, ...others]);
  const names = (await readdir(folder).catch(() => [])).filter((name) => wanted.has(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const info = await lstat(join(folder, name)).catch(() => undefined);
      return info?.isFile() && info.size > 0 ? [{ name, bytes: info.size }] : [];
    }),
  );
  const use = ({ name }: RunFile): number =>
    MAIN_FILES.includes(name) ? MAIN_FILES.indexOf(name) : MAIN_FILES.length;
  return files.flat().sort((a, b) => use(a) - use(b) || a.name.localeCompare(b.name));
}
