import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { REAL_PYTHON } from '../../electron/engine/testing/realFiles.ts';

/** The environment of an engine whose workers have faults of python-backend/tests/faulty. */
export const faultyWorkers = (faults: string): Record<string, string> => ({
  // This counts as the user's own interpreter, so the engine does not change its PYTHONPATH.
  VIRNUCPRO_PYTHON: REAL_PYTHON,
  PYTHONPATH: join(import.meta.dirname, 'faultyWorkers'),
  VIRNUCPRO_FAULT: faults,
});

/**
 * Real workers that compute only as many parts as a test permits, so that no run ends before the test has
 * looked at it, however fast the computer is.
 */
export class PartPermits {
  readonly #folder: string;
  #given = 0;

  /** With a few permits, for a run to begin with. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
    this.give(8);
  }

  get environment(): Record<string, string> {
    return faultyWorkers(`permitted:${this.#folder}`);
  }

  give(parts: number): void {
    for (const last = this.#given + parts; this.#given < last; this.#given++)
      writeFileSync(join(this.#folder, String(this.#given)), '');
  }

  /** From now on every part is computed. */
  async lift(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
