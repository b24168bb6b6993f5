import { AppFailure } from '../../../contract/errors.ts';
import type { EngineContext } from '../../engineContext.ts';
import { OpenRun } from '../../run/openRun.ts';
import { openRunStore } from '../../store/runStore.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

const READER_IDLE_MS = 60_000;

interface Reader {
  store: Promise<RunStore>;
  users: number;
  closing: NodeJS.Timeout | undefined;
}

/**
 * The databases that are open: a session for a run that is at work or being changed, a reader for one that is only looked
 * at. Readers are kept for a minute, so that scrolling through a table doesn't open the database for every page.
 */
export class OpenRuns {
  private readonly storeHost: URL;
  private readonly sessions = new Map<string, OpenRun>();
  private readonly readers = new Map<string, Reader>();

  constructor(storeHost: URL) {
    this.storeHost = storeHost;
  }

  session(folder: string): OpenRun | undefined {
    return this.sessions.get(folder);
  }

  async openSession(context: EngineContext, folder: string): Promise<OpenRun> {
    await this.closeReader(folder);
    const opened = await OpenRun.open(context, folder);
    if (!opened.ok) throw new AppFailure(opened.error);
    this.sessions.set(folder, opened.value);
    return opened.value;
  }

  async closeSession(folder: string): Promise<void> {
    const session = this.sessions.get(folder);
    this.sessions.delete(folder);
    await session?.close();
  }

  /** Asks the database of a run something, whoever has it open. */
  async read<Answer>(folder: string, ask: (store: RunStore) => Promise<Answer>): Promise<Answer> {
    const session = this.sessions.get(folder);
    if (session) return ask(session.store);
    const reader = this.readers.get(folder) ?? this.openReader(folder);
    reader.users += 1;
    clearTimeout(reader.closing);
    try {
      return await ask(await reader.store);
    } finally {
      reader.users -= 1;
      if (reader.users === 0) {
        reader.closing = setTimeout(() => void this.closeReader(folder), READER_IDLE_MS).unref();
      }
    }
  }

  async closeReader(folder: string): Promise<void> {
    const reader = this.readers.get(folder);
    if (!reader) return;
    this.readers.delete(folder);
    clearTimeout(reader.closing);
    const store = await reader.store.catch(() => undefined);
    await store?.close();
  }

  async close(): Promise<void> {
    await Promise.all([
      ...[...this.sessions.keys()].map((folder) => this.closeSession(folder)),
      ...[...this.readers.keys()].map((folder) => this.closeReader(folder)),
    ]);
  }

  private openReader(folder: string): Reader {
    const store = openRunStore(folder, { hostEntry: this.storeHost, readOnly: true });
    const reader: Reader = { store, users: 0, closing: undefined };
    this.readers.set(folder, reader);
    store.catch(() => this.readers.delete(folder));
    return reader;
  }
}
