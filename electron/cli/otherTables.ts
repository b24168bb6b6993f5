import { joinOtherTable, readOtherTable, storedOtherTables, type RunStore } from '../engine/index.ts';

export type JoinedTables = Awaited<ReturnType<typeof otherTables>>;

/** The tables of other tools beside a run: those named on the command line, then those that stay with it. */
export async function otherTables(store: RunStore, files: readonly string[]) {
  const tables = [
    ...(await Promise.all(files.map((file) => readOtherTable(file)))),
    ...storedOtherTables(store.folder),
  ];
  return Promise.all(tables.map((table) => joinOtherTable(store, table)));
}
