import {
  joinOtherTable,
  type JoinedTable,
  stampOfOtherTables,
  storedOtherTables,
} from '../../exports/otherTools/joinOtherTable.ts';
import type { RunStore } from '../../store/runStore.ts';

const MOST_RUNS = 2;

/** Caches the tables of other tools for the runs that were viewed last. */
export class OtherTables {
  private readonly known = new Map<string, { stamp: string; joined: Promise<JoinedTable[]> }>();

  async of(store: RunStore): Promise<JoinedTable[]> {
    const { folder } = store;
    const tables = stampOfOtherTables(folder);
    if (tables === null) return [];
    const { counts } = await store.loadRun();
    const stamp = `${tables} ${counts.records}`;
    const before = this.known.get(folder);
    if (before?.stamp === stamp) return before.joined;
    const joined = Promise.all(storedOtherTables(folder).map((table) => joinOtherTable(store, table)));
    joined.catch(() => this.known.delete(folder));
    this.known.delete(folder);
    this.known.set(folder, { stamp, joined });
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_RUNS && oldest !== undefined) this.known.delete(oldest);
    return joined;
  }
}
