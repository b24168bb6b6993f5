import { message, type Message, type Wording } from '../../contract/messages.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { RunLog } from './runLog.ts';

export interface RunNote {
  time: number;
  level: 'info' | 'warning' | 'error';
  code: string;
  message: string;
  wording: Wording | null;
  detail: string | null;
}

/** Describes a file that is left out; a window translates the kind of fault. */
export function inputLeftOut(path: string, code: string, text: string): Message {
  return message('note.input_left_out', {
    path,
    text: { text, wording: { key: `error.${code}`, values: {} } },
  });
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
