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
import { appError, AppFailure } from '../../contract/errors.ts';
import { hashDescriptor } from './hashFile.ts';
import { replaceFile } from './replaceFile.ts';

/*
 * The files of a run. Its folder may come from somebody else: whatever lies in it, no file outside of it may be read, written
 * or deleted on its account. So every file of a run is opened here: by its path below the folder, along real folders only,
 * and only where it is an ordinary file itself. Windows' junctions are links to `lstat` as well.
 */

/** Neither links nor pipes that nobody writes to: opening either must not do what it usually does. Windows has no such flags. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

const FLAGS = {
  read: constants.O_RDONLY,
  /** In place: what is not overwritten stays. */
  update: constants.O_RDWR,
  append: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
  /** Fails with EEXIST where there is anything of this name, a link included. */
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
} as const;

type Lstat = (path: string) => Pick<Stats, 'isSymbolicLink' | 'isDirectory' | 'isFile'>;

/** Path of a file below a run's folder, after checking the folders on the way to it: `work/parts/000000.safetensors`. */
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

/** Opens an ordinary file by its path; its folder must have been checked. Raises what `fs` raises where there is none. */
export function openPlain(path: string, how: keyof typeof FLAGS, lstat: Lstat = lstatSync): number {
  // Told by name before the flags refuse it, and for systems without them.
  const found = ifThere(() => lstat(path));
  if (found?.isSymbolicLink()) throw isLink(path);
  if (found && !found.isFile()) throw notAFile(path);
  const descriptor = openSync(path, FLAGS[how] | O_NOFOLLOW | O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw notAFile(path);
}

/** Opens a new file, after removing what an earlier program left under its name. A link goes, what it leads to stays. */
export function openNew(path: string): number {
  rmSync(path, { force: true });
  return openPlain(path, 'create');
}

/** The whole file if it has at most that many bytes; null if it has more. */
export function readPlain(path: string, mostBytes: number): Buffer | null {
  const descriptor = openPlain(path, 'read');
  try {
    return fstatSync(descriptor).size > mostBytes ? null : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** As `pathInRun` and `readPlain`, while this process does other things: there may be a thousand such files on a network disk. */
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

/** Size and SHA-256 of a file of a run; null where there is none. Raises AppFailure where it is no ordinary file. */
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

/** Appends to a file of a run, making it where there is none. */
export async function appendToRunFile(folder: string, name: string, text: string): Promise<void> {
  const descriptor = openPlain(pathInRun(folder, name), 'append');
  try {
    await promisify(appendFile)(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** A log file that a process of a run writes to, in a folder that must be a real one. */
export function openLog(path: string): WriteStream {
  if (!isPlainFolder(dirname(path))) throw isLink(dirname(path));
  return createWriteStream(path, { fd: openPlain(path, 'append') });
}

/** Bytes of an ordinary file; 0 where there is none. */
export function sizeOf(path: string): number {
  const found = ifThere(() => lstatSync(path));
  return found?.isFile() ? found.size : 0;
}

/** Whether there is an ordinary file; neither a link to one nor anything else. */
export function isPlainFile(path: string): boolean {
  return ifThere(() => lstatSync(path))?.isFile() === true;
}

/** Whether there is a folder, and not a link to one. */
export function isPlainFolder(path: string): boolean {
  return ifThere(() => lstatSync(path))?.isDirectory() === true;
}

/** Whether there is anything of this name, if only a broken link. */
export function somethingAt(path: string): boolean {
  return ifThere(() => lstatSync(path)) !== null;
}

/** Fails with ENOENT where the run's folder is not there: one that was moved is not begun again in the place where it was. */
export function makeFolderInRun(folder: string, name: string): void {
  let made = '';
  for (const step of name.split('/')) {
    made += `${step}/`;
    // As if there were a file in it: then the folder itself is checked too.
    const path = dirname(pathInRun(folder, `${made}x`));
    if (!isPlainFolder(path)) mkdirSync(path);
  }
}

/** Renames within the run's folder. What stood under the new name goes. */
export function renameInRun(folder: string, from: string, to: string): void {
  replaceFile(pathInRun(folder, from), pathInRun(folder, to));
}

/** Writes a file of a run: it is the old one, or the new one as a whole. */
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

/** Deletes a file, or a folder with all that is in it. A link goes, and what it leads to stays; also on the way there. */
export function deleteInRun(folder: string, name: string): void {
  let path = folder;
  for (const step of name.split('/')) {
    if (!isPlainName(step)) throw unsafe(`${folder} names a file that cannot be in it: ${name}.`);
    path = join(path, step);
    if (!isPlainFolder(path)) break;
  }
  // Goes into real folders only.
  rmSync(path, { recursive: true, force: true });
}

/** Refuses a file that is there and is no ordinary one. */
export function refuseUnlessPlain(path: string, lstat: Lstat = lstatSync): void {
  const found = ifThere(() => lstat(path));
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
  return new AppFailure(appError('folder_unsafe', cause));
}

/** A name as this program gives: no way up, no drive, no stream of Windows, nothing hidden. */
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
