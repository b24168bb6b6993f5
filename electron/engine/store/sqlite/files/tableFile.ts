import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../../system/replaceFile.ts';
import { openNew } from '../../../system/runFiles.ts';

/**
 * Text is encoded in small pieces, while they are still in the processor's cache, and written in large
 * blocks.
 */
const ENCODE_CHARACTERS = 1 << 12;
const BLOCK_BYTES = 1 << 20;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const BYTES_PER_CHARACTER = 3;

/** A text file that appears complete or not at all: written under a temporary name, flushed, then renamed. */
export class TableFile {
  readonly name: string;
  readonly #path: string;
  readonly #temporary: string;
  readonly #hash = createHash('sha256');
  #descriptor: number | null;
  #pending = '';
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #filled = 0;
  #bytes = 0;

  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    this.#temporary = `${this.#path}.tmp`;
    this.#descriptor = openNew(this.#temporary);
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= ENCODE_CHARACTERS) this.#encode();
  }

  /** Flushes everything to disk, still under the temporary name. */
  finish(): { bytes: number; sha256: string } {
    this.#encode();
    this.#flush();
    if (this.#descriptor !== null) {
      fsyncSync(this.#descriptor);
      this.#close();
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  publish(): void {
    replaceFile(this.#temporary, this.#path);
  }

  discard(): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #encode(): void {
    const text = this.#pending;
    this.#pending = '';
    const most = BYTES_PER_CHARACTER * text.length;
    if (this.#filled + most > BLOCK_BYTES) this.#flush();
    if (most > BLOCK_BYTES) this.#toDisk(Buffer.from(text, 'utf8'));
    else this.#filled += this.#block.write(text, this.#filled, 'utf8');
  }

  #flush(): void {
    this.#toDisk(this.#block.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #toDisk(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    if (this.#descriptor === null) throw new Error(`${this.name} is closed`);
    for (let done = 0; done < bytes.length;) done += writeSync(this.#descriptor, bytes, done);
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
