import { AppFailure, usage } from '../../../contract/errors.ts';
import type { EngineContext } from '../../run/engineContext.ts';
import { OpenRun } from '../../run/openRun.ts';
import { openRunStore, type OpenRunStoreOptions, type RunStore } from '../../store/runStore.ts';

const READER_IDLE_MS = 60_000;
/** Each is a thread with a cache of 64 MB. */
const MOST_READERS = 4;

interface Reader {
  store: Promise<RunStore>;
  questions: Questions;
  idle: NodeJS.Timeout | undefined;
}

interface Session {
  run: OpenRun;
  questions: Questions;
}

/** Counts the questions to one open database that are not answered yet. */
class Questions {
  private unanswered = 0;
  private readonly waiting: (() => void)[] = [];

  get some(): boolean {
    return this.unanswered > 0;
  }

  asked(): void {
    this.unanswered += 1;
  }

  answered(): void {
    this.unanswered -= 1;
    if (!this.some) for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves once the last one is answered. */
  async allAnswered(): Promise<void> {
    if (this.some) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

/**
 * The open databases: a session for a run that is computing or being changed, a reader for one that is only
 * viewed. Readers are kept for a minute, so that scrolling through a table doesn't open the database for
 * every page; there are only a few at a time, and the least recently used one makes room for the next. A
 * database is closed after its last question is answered, except when the program ends.
 */
export class OpenRuns {
  private readonly store: Pick<OpenRunStoreOptions, 'hostEntry' | 'closing' | 'checkedRuns' | 'startModule'>;
  private readonly sessions = new Map<string, Session>();
  private readonly closingSessions = new Set<Promise<void>>();
  private readonly opening = new Map<string, Promise<OpenRun>>();
  /** By folder, the most recently used last. */
  private readonly readers = new Map<string, Reader>();
  /** Readers whose threads have not ended yet. */
  private readonly ending = new Map<Reader, { folder: string; ended: Promise<void> }>();
  private waiting: (() => void)[] = [];
  private readonly programEnd = Promise.withResolvers<null>();
  private closed = false;

  constructor({
    storeHost: hostEntry,
    closing,
    checkedRuns,
    startModule,
  }: Pick<EngineContext, 'storeHost' | 'closing' | 'checkedRuns' | 'startModule'>) {
    this.store = { hostEntry, closing, checkedRuns, startModule };
  }

  /** Number of readers with a thread, including those just ending. */
  get readerCount(): number {
    return this.readers.size + this.ending.size;
  }

  session(folder: string): OpenRun | undefined {
    return this.sessions.get(folder)?.run;
  }

  async openSession(context: EngineContext, folder: string): Promise<OpenRun> {
    this.refuseIfClosed();
    const opening = this.beginSession(context, folder);
    this.opening.set(folder, opening);
    try {
      return await opening;
    } finally {
      this.opening.delete(folder);
    }
  }

  async closeSession(folder: string): Promise<void> {
    const session = this.sessions.get(folder);
    if (!session) return;
    this.sessions.delete(folder);
    const closing = this.lastAnswer(session).then(() => session.run.close());
    this.closingSessions.add(closing);
    try {
      await closing;
    } finally {
      this.closingSessions.delete(closing);
    }
  }

  /** Runs a query on a run's database, whoever has it open. */
  async read<Answer>(folder: string, ask: (store: RunStore) => Promise<Answer>): Promise<Answer> {
    await this.opening.get(folder)?.catch(() => undefined);
    const session = this.sessions.get(folder);
    if (session) {
      session.questions.asked();
      try {
        return await ask(session.run.record.store);
      } finally {
        session.questions.answered();
      }
    }
    const reader = await this.takeReader(folder);
    try {
      return await ask(await reader.store);
    } finally {
      this.release(folder, reader);
    }
  }

  async closeReader(folder: string): Promise<void> {
    const reader = this.readers.get(folder);
    if (reader) this.end(folder, reader);
    await Promise.all(
      [...this.ending.values()].filter((one) => one.folder === folder).map((one) => one.ended),
    );
  }

  /** Ends all threads, and starts none afterwards. */
  async close(): Promise<void> {
    this.closed = true;
    this.programEnd.resolve(null);
    this.wake();
    await Promise.allSettled(this.opening.values());
    for (const [folder, reader] of [...this.readers]) this.end(folder, reader);
    await Promise.allSettled([
      ...[...this.sessions.keys()].map((folder) => this.closeSession(folder)),
      ...this.closingSessions,
      ...[...this.ending.values()].map(({ ended }) => ended),
    ]);
  }

  private async beginSession(context: EngineContext, folder: string): Promise<OpenRun> {
    await this.closeReader(folder);
    const opened = await OpenRun.open(context, folder);
    if (!opened.ok) throw new AppFailure(opened.error);
    if (this.closed) await opened.value.close();
    this.refuseIfClosed();
    this.sessions.set(folder, { run: opened.value, questions: new Questions() });
    return opened.value;
  }

  /** Waits until one of the few readers is free. */
  private async takeReader(folder: string): Promise<Reader> {
    for (;;) {
      this.refuseIfClosed();
      const reader =
        this.readers.get(folder) ?? (this.readerCount < MOST_READERS ? this.openReader(folder) : undefined);
      if (reader) {
        reader.questions.asked();
        clearTimeout(reader.idle);
        this.readers.delete(folder);
        this.readers.set(folder, reader);
        return reader;
      }
      const unused = [...this.readers].find(([, { questions }]) => !questions.some);
      if (unused) this.end(...unused);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private release(folder: string, reader: Reader): void {
    reader.questions.answered();
    if (reader.questions.some || this.readers.get(folder) !== reader) return;
    reader.idle = setTimeout(() => {
      this.end(folder, reader);
    }, READER_IDLE_MS).unref();
    this.wake();
  }

  private openReader(folder: string): Reader {
    const store = openRunStore(folder, { ...this.store, readOnly: true });
    const reader: Reader = { store, questions: new Questions(), idle: undefined };
    this.readers.set(folder, reader);
    store.catch(() => {
      if (this.readers.get(folder) === reader) this.readers.delete(folder);
      this.wake();
    });
    return reader;
  }

  private end(folder: string, reader: Reader): void {
    this.readers.delete(folder);
    clearTimeout(reader.idle);
    const ended = Promise.all([reader.store, this.lastAnswer(reader)])
      .then(([store]) => store.close())
      .catch(() => undefined)
      .finally(() => {
        this.ending.delete(reader);
        this.wake();
      });
    this.ending.set(reader, { folder, ended });
  }

  private async lastAnswer({ questions }: Reader | Session): Promise<void> {
    await Promise.race([questions.allAnswered(), this.programEnd.promise]);
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  private refuseIfClosed(): void {
    if (this.closed) throw usage('The program is being closed.');
  }
}
