import type { WriteStream } from 'node:fs';
import { openLog, sizeOf } from '../system/runFiles.ts';
import { replaceFile } from '../system/replaceFile.ts';

/** Limit of one log file; the previous file is kept, so a log uses at most twice as much. */
const MOST_BYTES = 16 * 2 ** 20;

/**
 * Log of a process. Its size is limited, and it never makes anything else fail: if it cannot be written, its
 * lines are dropped.
 */
export class ProcessLog {
  private stream: WriteStream | null = null;
  private bytes = 0;
  private full = false;

  constructor(path: string) {
    try {
      this.bytes = sizeOf(path);
      if (this.bytes > MOST_BYTES / 2) {
        replaceFile(path, `${path}.old`);
        this.bytes = 0;
      }
      this.stream = openLog(path);
      // A full disk must not stop the engine because of a log.
      this.stream.on('error', () => undefined);
    } catch {
      // The path is a link, or its folder is missing or cannot be written.
    }
  }

  /** Lines beyond the limit are dropped, which the log notes once. */
  write(line: string): void {
    if (this.full || this.stream === null || this.stream.writableEnded) return;
    this.bytes += line.length + 1;
    this.full = this.bytes > MOST_BYTES;
    this.stream.write(
      this.full ? 'This log is full: what the process says from here on is not kept.\n' : `${line}\n`,
    );
  }

  /** Writes the final line, even to a full log. */
  end(line: string): void {
    this.stream?.end(`${line}\n`);
  }
}
