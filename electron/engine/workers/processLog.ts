import type { WriteStream } from 'node:fs';
import type { z } from 'zod';
import type { logSchema } from '../../contract/protocol/index.ts';
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

/** Limits the messages of a process, since they go into the run's database and log, and to every window. */
const NOTES_AT_ONCE = 100;
const NOTES_FORGOTTEN_MS = 500_000;
const LONGEST_NOTE = 2_000;

type Level = 'info' | 'warning' | 'error';

/** Passes on only as many messages of a process as people can read. */
export class BoundedNotes {
  private readonly emit: (level: Level, message: string) => void;
  private since = 0;
  private count = 0;

  constructor(emit: (level: Level, message: string) => void) {
    this.emit = emit;
  }

  add(level: z.infer<typeof logSchema>['level'], message: string): void {
    const now = performance.now();
    if (now - this.since > NOTES_FORGOTTEN_MS) [this.since, this.count] = [now, 0];
    this.count += 1;
    if (this.count <= NOTES_AT_ONCE)
      this.emit(level === 'debug' ? 'info' : level, message.slice(0, LONGEST_NOTE));
    else if (this.count === NOTES_AT_ONCE + 1)
      this.emit('warning', 'It says more than can be kept; some of what it says is left out.');
  }
}
