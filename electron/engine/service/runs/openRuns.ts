import { AppFailure } from '../../../contract/errors.ts';
import type { EngineContext } from '../../engineContext.ts';
import { OpenRun } from '../../run/openRun.ts';
import { openRunStore } from '../../store/runStore.ts';
import type { OpenRunStoreOptions, RunStore } from '../../store/runStoreFace.ts';
import { usage } from '../failures.ts';

const READER_IDLE_MS = 60_000;
/** Each is a thread with a cache of 64 MB. */
const MOST_READERS = 4;

interface Reader {
  store: Promise<RunStore>;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * The open databases: a session for a run that is computing or being changed, a reader for one that is only
 * viewed. Readers are kept for a minute, so that scrolling through a table doesn't open the database for
 * every page; there are only a few at a time, and the least recently used one makes room for the next.
 */
export class OpenRuns {
  private readonly store: Pick<OpenRunStoreOptions, 'hostEntry' | 'closing' | 'checkedRuns'>;
  private readonly sessions = new Map<string, OpenRun>();
  private readonly opening = new Map<string, Promise<OpenRun>>();
  /** By folder, the most recently used last. */
  private readonly readers = new Map<string, Reader>();
  /** Readers whose threads have not ended yet. */
  private readonly ending = new Map<Reader, { folder: string; ended: Promise<void> }>();
  private waiting: (() => void)[] = [];
  private closed = false;

  constructor({
    storeHost: hostEntry,
    closing,
    checkedRuns,
  }: Pick<EngineContext, 'storeHost' | 'closing' | 'checkedRuns'>) {
    this.store = { hostEntry, closing, checkedRuns };
  }

  /** Number of readers with a thread, including those just ending. */
  get readerCount(): number {
    return this.readers.size + this.ending.size;
  }

  session(folder: string): OpenRun | undefined {
    return this.sessions.get(folder);
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
    this.sessions.delete(folder);
    await session?.close();
  }

  /** Runs a query on a run's database, whoever has it open. */
  async read<Answer>(folder: string, ask: (store: RunStore) => Promise<Answer>): Promise<Answer> {
    await this.opening.get(folder)?.catch(() => undefined);
    const session = this.sessions.get(folder);
    if (session) {
      try {
        return await ask(session.store);
      } catch (error) {
        // The run may have ended and been closed before it answered. Then a reader answers.
        if (this.closed || this.sessions.get(folder) === session) throw error;
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
    this.wake();
    await Promise.allSettled(this.opening.values());
    for (const [folder, reader] of [...this.readers]) this.end(folder, reader);
    await Promise.allSettled([
      ...[...this.sessions.keys()].map((folder) => this.closeSession(folder)),
      ...[...this.ending.values()].map(({ ended }) => ended),
    ]);
  }

  private async beginSession(context: EngineContext, folder: string): Promise<OpenRun> {
    await this.closeReader(folder);
    const opened = await OpenRun.open(context, folder);
    if (!opened.ok) throw new AppFailure(opened.error);
    if (this.closed) await opened.value.close();
    this.refuseIfClosed();
    this.sessions.set(folder, opened.value);
    return opened.value;
  }

  /** Waits until one of the few readers is free. */
  private async takeReader(folder: string): Promise<Reader> {
    for (;;) {
      this.refuseIfClosed();
      const reader =
        this.readers.get(folder) ?? (this.readerCount < MOST_READERS ? this.openReader(folder) : undefined);
      if (reader) {
        reader.users += 1;
        clearTimeout(reader.idle);
        this.readers.delete(folder);
        this.readers.set(folder, reader);
        return reader;
      }
      const unused = [...this.readers].find(([, { users }]) => users === 0);
      if (unused) this.end(...unused);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  private release(folder: string, reader: Reader): void {
    reader.users -= 1;
    if (reader.users > 0 || this.readers.get(folder) !== reader) return;
    reader.idle = setTimeout(() => {
      this.end(folder, reader);
    }, READER_IDLE_MS).unref();
    this.wake();
  }

  private openReader(folder: string): Reader {
    const store = openRunStore(folder, { ...this.store, readOnly: true });
    const reader: Reader = { store, users: 0, idle: undefined };
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
    const ended = reader.store
      .then((store) => store.close())
      .catch(() => undefined)
      .finally(() => {
        this.ending.delete(reader);
        this.wake();
      });
    this.ending.set(reader, { folder, ended });
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
