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

/** Of a file that takes no part; a window names the kind of fault in its own language. */
export function inputLeftOut(path: string, code: string, text: string): Message {
  return message('note.input_left_out', {
    path,
    text: { text, wording: { key: `error.${code}`, values: {} } },
  });
}

/** What happened in a run, in plain words: into the database, into its log, and to whoever listens. */
export class RunNotes {
  private readonly store: RunStore;
  private readonly listener: (note: RunNote) => void;
  readonly log: RunLog;

  constructor(store: RunStore, listener: (note: RunNote) => void) {
    this.store = store;
    this.listener = listener;
    this.log = new RunLog(store.folder);
  }

  add(level: RunNote['level'], code: string, said: Message, detail?: string): void {
    const { text, wording } = said;
    const note: RunNote = { time: Date.now(), level, code, message: text, wording, detail: detail ?? null };
    this.listener(note);
    this.log.line(level, text, note.time);
    // A note that can't be stored has been shown; the disk's trouble is reported by the next call that must store.
    this.store.addEvent(note).catch(() => undefined);
  }
}
