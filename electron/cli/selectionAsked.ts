import {
  joinOtherTable,
  readOtherTable,
  samplesOf,
  selectionOf,
  markedRows,
  storedOtherTables,
  type RunStore,
} from '../engine/index.ts';
import { filterOf } from './filterArgument.ts';

/** The sequences that `--filter` selects, compared with the tables of other tools that `--with` names. */
export async function selectionAsked(
  store: RunStore,
  stored: Awaited<ReturnType<RunStore['loadRun']>>,
  flags: { filter: string[]; with: string[] },
) {
  const samples = samplesOf(stored);
  const others = await otherTables(store, flags.with);
  const filter = filterOf(flags.filter, {
    inputs: stored.inputs.map(({ path }) => path),
    samples,
    others: others.map(({ table }) => table.title),
  });
  return {
    samples,
    others,
    filter,
    selection: { ...selectionOf(filter, others), ...markedRows(store.folder, filter) },
  };
}

/** The tables named on the command line, then those that are stored with the run. */
export async function otherTables(store: RunStore, files: readonly string[]) {
  const tables = [
    ...(await Promise.all(files.map((file) => readOtherTable(file)))),
    ...storedOtherTables(store.folder),
  ];
  return Promise.all(tables.map((table) => joinOtherTable(store, table)));
}
