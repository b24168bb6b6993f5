import { appendToRunFile, makeFolderInRun } from '../files/runFiles.ts';

const NAME = 'logs/run.log';

/**
 * Writes logs/run.log: the events of a run and its devices' performance, one per line, readable without this
 * program.
 */
export class RunLog {
  private readonly folder: string;
  private writing: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Lines keep the order of the calls. A line that can't be written is lost: the run does not depend on it.
   */
  line(level: 'info' | 'warning' | 'error', words: string, time = Date.now()): void {
    const text = `${new Date(time).toISOString()} ${level} ${words.replaceAll(/\s*\n\s*/g, ' ')}\n`;
    this.writing = this.writing
      .then(() => {
        makeFolderInRun(this.folder, 'logs');
        return appendToRunFile(this.folder, NAME, text);
      })
      .catch(() => undefined);
  }

  /** Resolves when all lines so far are in the file. */
  async written(): Promise<void> {
    await this.writing;
  }
}
