import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** logs/run.log: what happened in a run and how its devices did, a line each, readable without this program. */
export class RunLog {
  private readonly path: string;
  private writing: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  /** Lines come in the order of the calls. One that can't be written is lost: the run does not depend on it. */
  line(level: 'info' | 'warning' | 'error', words: string, time = Date.now()): void {
    const text = `${new Date(time).toISOString()} ${level} ${words.replaceAll(/\s*\n\s*/g, ' ')}\n`;
    this.writing = this.writing
      .then(() => mkdir(dirname(this.path), { recursive: true }))
      .then(() => appendFile(this.path, text))
      .catch(() => undefined);
  }

  /** Resolves when all lines so far are in the file. */
  async written(): Promise<void> {
    await this.writing;
  }
}
