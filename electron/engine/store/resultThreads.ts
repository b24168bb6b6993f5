import type { TablesPrepared, TablesWritten } from '../results/types.ts';
import type { RunReadMethods, RunWriteMethods } from './sqlite/runMethods.ts';
import type { StoreThread } from './storeThread.ts';

export type Reader = StoreThread<RunReadMethods>;
export type Writer = StoreThread<RunWriteMethods>;

/** Writing the tables of that many frames takes about as long as starting a thread. */
export const FRAMES_WORTH_A_THREAD = 50_000;

/**
 * Compares everything stored with its digests, derives the sequence results in the thread that writes, and writes the tables.
 * Of large runs all three go on at the same time, in threads of their own, as all need nothing but what is stored; tables appear, and
 * `meanwhile` is called, only where nothing is damaged. Where `openReader` is null because only one connection may have the
 * database open, and for small runs, one follows the other. Sequence results may stand in run.db before the tables have their names; a
 * run that is cut off in between is not done, and derives and writes everything again. Whatever fails, nothing runs any more when
 * the promise settles.
 */
export async function writeResults(
  writer: Writer,
  openReader: (() => Promise<Reader>) | null,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<TablesWritten> {
  const begun = performance.now();
  const { frames } = await writer.call('counts');
  const apart = frames.total >= FRAMES_WORTH_A_THREAD ? openReader : null;
  const sound = apart
    ? inThread(apart, (reader) => reader.call('refuseDamage'))
    : writer.call('refuseDamage');
  const derived = (apart ? Promise.resolve() : sound).then(() => writer.call('deriveSequences'));
  const final = Promise.all([sound, derived]);
  const tables = (apart ? writeTablesApart(apart, sound) : final.then(() => writer.call('writeTables'))).then(
    (written) => ({ ...written, seconds: (performance.now() - begun) / 1000 }),
  );
  const indexed = final.then(() => writer.call('indexSequences'));
  try {
    const [, written] = await allSettled([sound, tables, derived, indexed, final.then(meanwhile)]);
    return written;
  } catch (error) {
    // They may rest on what is damaged.
    await sound.catch(() => writer.call('forgetSequences'));
    throw error;
  }
}

function writeTablesApart(openReader: () => Promise<Reader>, sound: Promise<void>): Promise<TablesPrepared> {
  return inThread(openReader, async (reader) => {
    const prepared = await reader.call('prepareTables');
    try {
      await sound;
    } catch (error) {
      await reader.call('discardTables');
      throw error;
    }
    await reader.call('publishTables');
    return prepared;
  });
}

async function inThread<Answer>(
  openReader: () => Promise<Reader>,
  ask: (reader: Reader) => Promise<Answer>,
): Promise<Answer> {
  const reader = await openReader();
  try {
    return await ask(reader);
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
