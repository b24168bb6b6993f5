import { closeSync, fsyncSync, openSync } from 'node:fs';
import { HERE } from '../system/here.ts';

/** Makes renames in a folder durable. Windows has no such call and needs none. */
export function syncFolder(folder: string): void {
  if (!HERE.syncsFolders) return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
