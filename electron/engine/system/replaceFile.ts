import { renameSync, writeFileSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { HERE } from './here.ts';

const HELD_OPEN: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

interface Renaming {
  readonly renamePausesMs: readonly number[];
  readonly rename: (from: string, to: string) => void;
  readonly pause: (milliseconds: number) => void;
}

const REAL: Renaming = { renamePausesMs: HERE.renamePausesMs, rename: renameSync, pause };

/**
 * Renames a complete file to its final name and replaces an older one. On Windows it retries: a file cannot
 * be renamed while a virus scanner or a search index has either file open, which happens right after a file
 * was written.
 */
export function replaceFile(
  from: string,
  to: string,
  { renamePausesMs, rename, pause: wait }: Renaming = REAL,
): void {
  for (const milliseconds of renamePausesMs) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && HELD_OPEN.has(error.code))) throw error;
      wait(milliseconds);
    }
  }
  rename(from, to);
}

/**
 * Writes a small file that appears under its name only when it is complete, however the process ends. It is
 * not flushed to the disk, so a power failure may leave an older or an empty one. Pass `mode` for a file that
 * holds a secret.
 */
export function writeJson(file: string, content: unknown, mode = 0o666): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode });
  replaceFile(temporary, file);
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

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
