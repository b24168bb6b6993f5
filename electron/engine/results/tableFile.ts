import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const FLUSH_CHARACTERS = 1 << 19;

/** A text file that appears whole or not at all: written under a temporary name, flushed, then renamed. */
export class TableFile {
  readonly name: string;
  readonly #path: string;
  readonly #temporary: string;
  readonly #hash = createHash('sha256');
  #descriptor: number | null;
  #pending = '';

  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    this.#temporary = `${this.#path}.tmp`;
    this.#descriptor = openSync(this.#temporary, 'w');
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= FLUSH_CHARACTERS) this.#flush();
  }

  /** Brings everything to the disk, still under the temporary name. Answers with the SHA-256. */
  finish(): string {
    this.#flush();
    if (this.#descriptor !== null) {
      fsyncSync(this.#descriptor);
      this.#close();
    }
    return this.#hash.digest('hex');
  }

  publish(): void {
    renameSync(this.#temporary, this.#path);
  }

  discard(): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending, 'utf8');
    this.#pending = '';
    this.#hash.update(bytes);
    if (this.#descriptor === null) throw new Error(`${this.name} is closed`);
    for (let done = 0; done < bytes.length;) done += writeSync(this.#descriptor, bytes, done);
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
