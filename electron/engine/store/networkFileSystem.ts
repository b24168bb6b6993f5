import { HERE } from '../system/here.ts';

/**
 * Name of the network file system that holds an existing folder, or null for a local disk, for which SQLite
 * works differently.
 * Throws the system's error if the folder can't be reached.
 */
export function networkFileSystem(folder: string): string | null {
  return HERE.networkFileSystem(folder);
}

/** Whether an existing folder is on a local disk that records a change time which only the system sets. */
export function isTrustedDisk(folder: string): boolean {
  return HERE.networkFileSystem(folder) === null && !HERE.isFat(folder);
}
