import { BEGINNING_BYTES, beginsWithSequences, fatesOf } from '../../electron/contract/index.ts';
import { uploadFile as uploadOverHttp } from '../api/upload.ts';
import { chosenComputer, home } from './connection.ts';

/** Files as a browser hands them over, to be sent to the engine, or their paths on the engine's own disk. */
export type Dropped =
  | { readonly kind: 'files'; readonly files: readonly File[] }
  | { readonly kind: 'paths'; readonly paths: readonly string[] };

/** The number of files in folders, not used, that are named to the user. */
export const MOST_IGNORED_NAMED = 100;

/** Selects from what a browser hands over: from folders what the engine would read, and every file dropped by itself. */
export async function pickDropped(dropped: readonly File[]): Promise<{ files: File[]; ignored: string[] }> {
  const paths = dropped.map(pathOf);
  const fates = fatesOf(paths);
  for (const [index, file] of dropped.entries())
    if (fates[index] === 'unknown') fates[index] = (await holdsSequences(file)) ? 'taken' : 'ignored';
  return {
    files: dropped.filter((_, index) => fates[index] === 'taken'),
    ignored: paths.filter((_, index) => fates[index] === 'ignored'),
  };
}

async function holdsSequences(file: File): Promise<boolean> {
  try {
    return beginsWithSequences(new Uint8Array(await file.slice(0, BEGINNING_BYTES).arrayBuffer()));
  } catch {
    return false;
  }
}

/** The path includes the folders with which a file was dropped. */
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
  // The program sends it from disk, and resumes after the link broke.
  const path = bridge.pathForFile(file);
  await home.shell.grantPaths({ paths: [path] });
  const sending = await home.computers.transfer({ address: chosenComputer, path }, { signal });
  for await (const { doneBytes, totalBytes, path: arrived } of sending) {
    onProgress(totalBytes === 0 ? 1 : doneBytes / totalBytes);
    if (arrived !== null) return arrived;
  }
  throw new DOMException('Upload cancelled', 'AbortError');
}

/** How much of one file has been sent. */
export interface Sent {
  readonly bytes: number;
  readonly fraction: number;
}

/** The fraction of all bytes that are sent together; it never decreases. */
export function sentFraction(uploads: readonly Sent[]): number {
  // An empty file gets the least weight.
  const weight = ({ bytes }: Sent) => Math.max(1, bytes);
  const sent = uploads.reduce((sum, upload) => sum + weight(upload) * upload.fraction, 0);
  return sent / uploads.reduce((sum, upload) => sum + weight(upload), 0);
}
