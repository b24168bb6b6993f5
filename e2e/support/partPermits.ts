import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REAL_PYTHON } from '../../electron/engine/testing/realFiles.ts';

/** Python imports what is in this folder when it starts. */
export const FAULTY_WORKERS = join(import.meta.dirname, 'faultyWorkers');
const FIRST_PARTS = 8;

/**
 * Real workers that compute only as many parts as a test permits, so that no run ends before the test has
 * looked at it, however fast the computer is.
 */
export class PartPermits {
  readonly #folder: string;
  #given = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** With a few permits, for a run to begin with. */
  static async make(folder: string): Promise<PartPermits> {
    const permits = new PartPermits(folder);
    await permits.give(FIRST_PARTS);
    return permits;
  }

  /** The environment of an engine with such workers. */
  get environment(): Record<string, string> {
    return {
      // This counts as the user's own interpreter, so the engine does not change its PYTHONPATH.
      VIRNUCPRO_PYTHON: REAL_PYTHON,
      PYTHONPATH: FAULTY_WORKERS,
      VIRNUCPRO_PERMITS: this.#folder,
    };
  }

  async give(parts: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const last = this.#given + parts; this.#given < last; this.#given++)
      await writeFile(join(this.#folder, String(this.#given)), '');
  }

  /** From now on every part is computed. */
  async lift(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
