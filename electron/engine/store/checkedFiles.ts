import { closeSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { hashDescriptor } from '../system/hashFile.ts';
import { isPlainFile, openPlain } from '../system/runFiles.ts';
import type { ResultFileDigest } from './types.ts';

/** By name: what a file looked like when its digest was that of the run. */
export type FileStamps = Readonly<Record<string, string>>;

/**
 * Compares files of one open run with the digests in run.db, each file once: again only if it was written to
 * meanwhile. A bit that flips on the disk sets no time, so nothing of this outlives the opening.
 */
export class CheckedFiles {
  readonly #folder: string;
  readonly #sound: Map<string, string>;
  readonly #unsound = new Map<string, string>();

  constructor(folder: string, sound: FileStamps = {}) {
    this.#folder = folder;
    this.#sound = new Map(Object.entries(sound));
  }

  get sound(): FileStamps {
    return Object.fromEntries(this.#sound);
  }

  async isAsWritten(name: string, written: ResultFileDigest | undefined): Promise<boolean> {
    const path = join(this.#folder, name);
    if (!written || !isPlainFile(path)) return false;
    const { dev, ino, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    if (size !== BigInt(written.bytes)) return false;
    const stamp = [written.sha256, dev, ino, size, mtimeNs, ctimeNs].join(' ');
    if (this.#sound.get(name) === stamp) return true;
    if (this.#unsound.get(name) === stamp) return false;
    const isSound = (await sha256Of(path)) === written.sha256;
    (isSound ? this.#sound : this.#unsound).set(name, stamp);
    return isSound;
  }
}

async function sha256Of(path: string): Promise<string> {
  const descriptor = openPlain(path, 'read');
  try {
    return await hashDescriptor(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
