import {
  appendFile,
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
  type Stats,
  type WriteStream,
} from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type AppFailure, appFailure } from '../../contract/errors.ts';
import { hashDescriptor } from './hashFile.ts';
import { replaceFile } from './replaceFile.ts';

/*
 * The files of a run. Its folder may come from somebody else: whatever it contains must not cause this
 * program to read, write or delete any file outside of it. So every file of a run is opened here: by its path
 * below the folder, only along real folders, and only if it is an ordinary file itself. `lstat` reports
 * Windows' junctions as links, too.
 */

/** Never follow links, and never wait for the writer of a pipe. Windows has no such flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const FLAGS = {
  read: constants.O_RDONLY,
  /** Writes in place: what is not overwritten stays. */
  update: constants.O_RDWR,
  append: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
  /** Fails with EEXIST if anything has this name, including a link. */
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
} as const;

type Lstat = (path: string) => Pick<Stats, 'isSymbolicLink' | 'isDirectory' | 'isFile'>;

/**
 * Returns the path of a file below a run's folder (`work/parts/000000.safetensors`), after checking the
 * folders that lead to it.
 */
export function pathInRun(folder: string, name: string, lstat: Lstat = lstatSync): string {
  const steps = name.split('/');
  if (!steps.every(isPlainName)) throw unsafe(`${folder} names a file that cannot be in it: ${name}.`);
  let path = folder;
  for (const step of steps.slice(0, -1)) {
    path = join(path, step);
    const found = ifThere(() => lstat(path));
    if (found?.isSymbolicLink()) throw isLink(path);
    if (found && !found.isDirectory()) throw unsafe(`${path} is not a folder.`);
  }
  return join(path, steps.at(-1) ?? '');
}

/**
 * Opens an ordinary file by its path; its folder must have been checked. Throws what `fs` throws if there is
 * no file.
 */
export function openPlain(path: string, how: keyof typeof FLAGS, lstat: Lstat = lstatSync): number {
  // This check gives a clear error before the flags refuse the file, and covers systems without them.
  const found = ifThere(() => lstat(path));
  if (found?.isSymbolicLink()) throw isLink(path);
  if (found && !found.isFile()) throw notAFile(path);
  const descriptor = openSync(path, FLAGS[how] | O_NOFOLLOW | O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw notAFile(path);
}

/**
 * Opens a new file, after removing what an earlier program left under its name. A link is removed, its target
 * stays.
 */
export function openNew(path: string): number {
  rmSync(path, { force: true });
  return openPlain(path, 'create');
}

/** Returns the whole file if it has at most `mostBytes`; null if it is larger. */
export function readPlain(path: string, mostBytes: number): Buffer | null {
  const descriptor = openPlain(path, 'read');
  try {
    return fstatSync(descriptor).size > mostBytes ? null : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Combines `pathInRun` and `readPlain` without blocking this process: a network disk may hold a thousand such
 * files.
 */
export async function readInRun(folder: string, name: string, mostBytes: number): Promise<Buffer | null> {
  const steps = name.split('/');
  if (!steps.every(isPlainName)) throw unsafe(`${folder} names a file that cannot be in it: ${name}.`);
  let path = folder;
  for (const [place, step] of steps.entries()) {
    path = join(path, step);
    const found = await lstat(path);
    if (found.isSymbolicLink()) throw isLink(path);
    if (place < steps.length - 1 && !found.isDirectory()) throw unsafe(`${path} is not a folder.`);
  }
  const file = await open(path, FLAGS.read | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw notAFile(path);
    return found.size > mostBytes ? null : await file.readFile();
  } finally {
    await file.close();
  }
}

/**
 * Size and SHA-256 of a file of a run; null if there is none. Throws AppFailure if it is not an ordinary
 * file.
 */
export async function digestInRun(
  folder: string,
  name: string,
): Promise<{ bytes: number; sha256: string } | null> {
  const path = pathInRun(folder, name);
  if (!somethingAt(path)) return null;
  const descriptor = openPlain(path, 'read');
  let bytes = 0;
  try {
    const sha256 = await hashDescriptor(descriptor, (more) => (bytes += more));
    return { bytes, sha256 };
  } finally {
    closeSync(descriptor);
  }
}

/** Appends to a file of a run, and creates it if there is none. */
export async function appendToRunFile(folder: string, name: string, text: string): Promise<void> {
  const descriptor = openPlain(pathInRun(folder, name), 'append');
  try {
    await promisify(appendFile)(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a log file that a process of a run writes to, in a folder that must be a real one. */
export function openLog(path: string): WriteStream {
  if (!isPlainFolder(dirname(path))) throw isLink(dirname(path));
  return createWriteStream(path, { fd: openPlain(path, 'append') });
}

/** Size of an ordinary file in bytes; 0 if there is none. */
export function sizeOf(path: string): number {
  const found = ifThere(() => lstatSync(path));
  return found?.isFile() ? found.size : 0;
}

/** Whether the path is an ordinary file, not a link to one or anything else. */
export function isPlainFile(path: string): boolean {
  return ifThere(() => lstatSync(path))?.isFile() === true;
}

/** Whether the path is a folder, not a link to one. */
export function isPlainFolder(path: string): boolean {
  return ifThere(() => lstatSync(path))?.isDirectory() === true;
}

/** Whether anything has this name, including a broken link. */
export function somethingAt(path: string): boolean {
  return ifThere(() => lstatSync(path)) !== null;
}

/**
 * Fails with ENOENT if the run's folder is missing: a run that was moved must not be started again in its old
 * place.
 */
export function makeFolderInRun(folder: string, name: string): void {
  let made = '';
  for (const step of name.split('/')) {
    made += `${step}/`;
    // Asks for a file inside of it, so that the folder itself is checked, too.
    const path = dirname(pathInRun(folder, `${made}x`));
    if (!isPlainFolder(path)) mkdirSync(path);
  }
}

/** Renames within the run's folder, and replaces what had the new name. */
export function renameInRun(folder: string, from: string, to: string): void {
  replaceFile(pathInRun(folder, from), pathInRun(folder, to));
}

/** Writes a file of a run: readers see either the old content or all of the new. */
export function replaceInRun(folder: string, name: string, bytes: Uint8Array): void {
  const unfinished = `${name}.tmp`;
  const descriptor = openNew(pathInRun(folder, unfinished));
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameInRun(folder, unfinished, name);
}

const NUMBERS_BLOCK_BYTES = 1 << 16;

/** Writes numbers as little-endian U32 into a new file, down to the disk; returns how many there are. */
export function writeNumbers(numbers: Iterable<number>, path: string): number {
  const block = Buffer.alloc(NUMBERS_BLOCK_BYTES);
  let [filled, count] = [0, 0];
  const descriptor = openNew(path);
  const flush = (): void => {
    for (let done = 0; done < filled;) done += writeSync(descriptor, block, done, filled - done);
    filled = 0;
  };
  try {
    for (const number of numbers) {
      filled = block.writeUInt32LE(number, filled);
      count++;
      if (filled === NUMBERS_BLOCK_BYTES) flush();
    }
    flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return count;
}

/**
 * Deletes a file, or a folder with its contents. A link is removed and its target stays, also for links on
 * the path.
 */
export function deleteInRun(folder: string, name: string): void {
  let path = folder;
  for (const step of name.split('/')) {
    if (!isPlainName(step)) throw unsafe(`${folder} names a file that cannot be in it: ${name}.`);
    path = join(path, step);
    if (!isPlainFolder(path)) break;
  }
  // This recurses into real folders only, and tries again where somebody writes a file meanwhile.
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Refuses an existing file that is not an ordinary one. */
export function refuseUnlessPlain(path: string): void {
  const found = ifThere(() => lstatSync(path));
  if (found?.isSymbolicLink()) throw isLink(path);
  if (found && !found.isFile()) throw notAFile(path);
}

export function isLink(path: string): AppFailure {
  return unsafe(`${path} is a link.`);
}

export function notAFile(path: string): AppFailure {
  return unsafe(`${path} is not an ordinary file.`);
}

function unsafe(cause: string): AppFailure {
  return appFailure('folder_unsafe', cause);
}

/**
 * Accepts only names that this program itself uses: no parent folder, no drive, no Windows stream, no hidden
 * file.
 */
function isPlainName(step: string): boolean {
  return /^\w[\w.-]*$/.test(step);
}

function ifThere<Value>(look: () => Value): Value | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return null;
    throw error;
  }
}
