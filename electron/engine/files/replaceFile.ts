import { renameSync } from 'node:fs';

/** Together about two and a half seconds. */
const PAUSES_MS = [10, 20, 40, 80, 160, 320, 640, 1280];
const HELD_OPEN: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

export interface System {
  readonly platform: NodeJS.Platform;
  readonly rename: (from: string, to: string) => void;
  readonly pause: (milliseconds: number) => void;
}

const HERE: System = { platform: process.platform, rename: renameSync, pause };

/**
 * Renames a file that is complete to its name, in the place of what stood there. On Windows patiently: for as long as a virus
 * scanner or a search index has either file open, which it does right after a file was written, it can't be renamed.
 */
export function replaceFile(
  from: string,
  to: string,
  { platform, rename, pause: wait }: System = HERE,
): void {
  for (const milliseconds of platform === 'win32' ? PAUSES_MS : []) {
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

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
