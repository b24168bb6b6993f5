import { basename } from 'node:path';
import { message, type Message, type Wording } from '../../contract/messages.ts';
import { inWords, type Said } from '../../contract/problems.ts';
import type { RunStore } from '../store/runStore.ts';
import { appendToRunFile, makeFolderInRun } from '../system/runFiles.ts';

export interface RunNote {
  time: number;
  level: 'info' | 'warning' | 'error';
  code: string;
  message: string;
  wording: Wording | null;
  detail: string | null;
}

/** Says of a file what was found in it, and what that means. */
export function problemNoted(path: string, problem: Said & { count: number }): Message {
  const { sentence, next } = inWords(problem);
  return message('note.input_problem', { file: basename(path), text: sentence, next });
}

/** Says why a file is left out, and what can be done. */
export function inputLeftOut(path: string, said: Said): Message {
  const { sentence, next } = inWords(said);
  return message('note.input_left_out', { path, text: sentence, next });
}

/** Reports events of a run in plain words to the database, its log, and all listeners. */
export class RunNotes {
  private readonly store: RunStore;
  private readonly listener: (note: RunNote) => void;
  readonly log: RunLog;

  constructor(store: RunStore, listener: (note: RunNote) => void) {
    this.store = store;
    this.listener = listener;
    this.log = new RunLog(store.folder);
  }

  add(level: RunNote['level'], code: string, remark: Message, detail?: string): void {
    const { text, wording } = remark;
    const note: RunNote = { time: Date.now(), level, code, message: text, wording, detail: detail ?? null };
    this.listener(note);
    this.log.line(level, text, note.time);
    // A note that can't be stored has already been shown; the next call that must store reports the disk's
    // problem.
    this.store.addEvent(note).catch(() => undefined);
  }
}

const NAME = 'logs/run.log';

/** Writes logs/run.log: the events of a run, one per line, readable without this program. */
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
