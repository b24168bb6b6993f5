import { fatesOf } from '../../electron/contract/index.ts';
import { uploadFile as uploadOverHttp } from '../api/upload.ts';
import { chosenComputer, home } from './connection.ts';

/** Files as a browser hands them over, to be sent to the engine, or where they lie on the engine's own disk. */
export type Dropped =
  | { readonly kind: 'files'; readonly files: readonly File[] }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** Of files that were left out for their names, so many are named. */
export const MOST_IGNORED_NAMED = 100;

/** What is taken of what a browser hands over: of folders what the engine takes of them, and all that was dropped by itself. */
export function pickDropped(dropped: readonly File[]): { files: File[]; ignored: string[] } {
  const paths = dropped.map(pathOf);
  const fates = fatesOf(paths);
  return {
    files: dropped.filter((_, index) => fates[index] === 'taken'),
    ignored: paths.filter((_, index) => fates[index] === 'ignored'),
  };
}

/** With the folders that a file was dropped with. */
const pathOf = (file: File & { readonly relativePath?: string }): string =>
  (file.webkitRelativePath || file.relativePath || file.name).replace(/^\.?\//, '');

/** Sends a file of this computer to the engine's. Resolves with its path there. */
export async function uploadFile(
  file: File,
  onProgress: (fraction: number) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const bridge = window.virnucpro;
  if (!bridge || chosenComputer === null) return uploadOverHttp(file, pathOf(file), onProgress, signal);
  // The program sends it from the disk, and goes on with it where the line broke.
  const path = bridge.pathForFile(file);
  await home.shell.grantPaths({ paths: [path] });
  const sending = await home.computers.sendFile({ id: chosenComputer, path }, { signal });
  for await (const { doneBytes, totalBytes, path: arrived } of sending) {
    onProgress(totalBytes === 0 ? 1 : doneBytes / totalBytes);
    if (arrived !== null) return arrived;
  }
  throw new DOMException('Upload cancelled', 'AbortError');
}
