import { HERE } from '../system/here.ts';

/**
 * Name of the network file system that holds an existing folder, or null for a local disk, for which SQLite
 * works differently.
 * Throws the system's error if the folder can't be reached.
 */
export function networkFileSystem(folder: string): string | null {
  return HERE.networkFileSystem(folder);
}
