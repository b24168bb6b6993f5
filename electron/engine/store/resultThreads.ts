import type { TablesWritten } from '../results/types.ts';
import type { RunReadMethods, RunWriteMethods } from './sqlite/runMethods.ts';
import type { StoreThread } from './storeThread.ts';

export type Reader = StoreThread<RunReadMethods>;
export type Writer = StoreThread<RunWriteMethods>;

/** Writing the tables of that many frames takes about as long as starting a thread. */
export const FRAMES_WORTH_A_THREAD = 50_000;

/** Derives the sequence results in the thread that writes, and writes the tables in one of their own: they need nothing but
 * the chunk rows. For small runs, and where `openReader` is null because only one connection may have the database open,
 * the writer does both. Sequence results may stand in run.db before the tables have their names; a run that is cut off in between
 * is not done, and derives and writes everything again. Whatever fails, nothing runs any more when the promise settles. */
export async function writeResults(
  writer: Writer,
  openReader: (() => Promise<Reader>) | null,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<TablesWritten> {
  await writer.call('refuseDamage');
  const { frames } = await writer.call('counts');
  const derived = writer.call('deriveSequences');
  const tables =
    openReader && frames.total >= FRAMES_WORTH_A_THREAD
      ? writeTablesApart(openReader)
      : derived.then(() => writer.call('writeTables'));
  const indexed = derived.then(() => writer.call('indexSequences'));
  const [written] = await allSettled([tables, indexed, derived.then(meanwhile)]);
  return written;
}

async function writeTablesApart(openReader: () => Promise<Reader>): Promise<TablesWritten> {
  const reader = await openReader();
  try {
    return await reader.call('writeTables');
  } finally {
    await reader.close('closeReader');
  }
}

/** As Promise.all, but fails only when the last of them has ended. */
async function allSettled<Values extends readonly unknown[]>(promises: {
  [K in keyof Values]: Promise<Values[K]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
