import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** Creates a new folder, which is removed after the tests of this file. */
export function temporaryFolder(): string {
  // The name has spaces and letters beyond ASCII, as many home folders do.
  const folder = mkdtempSync(join(tmpdir(), 'Données β 実験 '));
  folders.push(folder);
  return folder;
}

/** Called by the test runner after each file. */
export async function removeTemporaryFolders(): Promise<void> {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
