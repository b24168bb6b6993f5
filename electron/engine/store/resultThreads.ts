import { RESULT_FILES } from '../../contract/results.ts';
import type { TablesWritten } from '../results/types.ts';
import type { RunReadMethods, RunWriteMethods } from './sqlite/runMethods.ts';
import type { StoreThread } from './storeThread.ts';

export type Reader = StoreThread<RunReadMethods>;
export type Writer = StoreThread<RunWriteMethods>;

/** Writing the tables of that many frames takes about as long as starting a thread. */
export const FRAMES_WORTH_A_THREAD = 50_000;

/**
 * Compares everything stored with its digests, derives the sequence results in the thread that writes, and writes the tables.
 * Of large runs all of it goes on at the same time in three threads, as each needs nothing but what is stored; tables appear, and
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
  const written =
    openReader && frames.total >= FRAMES_WORTH_A_THREAD
      ? await writeAtOnce(writer, openReader, meanwhile, begun)
      : await writeInTurn(writer, meanwhile, begun);
  return { ...written, files: inFixedOrder(written.files) };
}

async function writeInTurn(
  writer: Writer,
  meanwhile: () => Promise<void>,
  begun: number,
): Promise<TablesWritten> {
  await forgettingIfDamaged(writer, writer.call('refuseDamage'));
  await writer.call('deriveSequences');
  const tables = writer.call('writeTables').then((written) => ({ ...written, seconds: secondsSince(begun) }));
  const [written] = await allSettled([tables, writer.call('indexSequences'), meanwhile()]);
  return written;
}

async function writeAtOnce(
  writer: Writer,
  openReader: () => Promise<Reader>,
  meanwhile: () => Promise<void>,
  begun: number,
): Promise<TablesWritten> {
  const readers: Reader[] = [];
  const open = async (): Promise<Reader> => {
    const reader = await openReader();
    readers.push(reader);
    return reader;
  };
  try {
    const [one, other] = [await open(), await open()];
    const sound = one.call('refuseDamage');
    const sorted = sound.then(() => one.call('prepareSortedTable'));
    const inOrder = other.call('prepareTables');
    const derived = writer.call('deriveSequences');
    const final = Promise.all([sound, derived]);
    const tables = Promise.all([inOrder, sorted]).then(async ([{ counts, files }, { files: last }]) => {
      await Promise.all([one.call('publishTables'), other.call('publishTables')]);
      return { counts, files: { ...files, ...last }, seconds: secondsSince(begun) };
    });
    const indexed = final.then(() => writer.call('indexSequences'));
    try {
      const [, written] = await allSettled([sound, tables, derived, indexed, final.then(meanwhile), inOrder]);
      return written;
    } catch (error) {
      await Promise.all([one.call('discardTables'), other.call('discardTables')]);
      await forgettingIfDamaged(writer, sound);
      throw error;
    }
  } finally {
    for (const reader of readers) await reader.close('closeReader');
  }
}

/** Sequence results may rest on what is damaged. */
async function forgettingIfDamaged(writer: Writer, sound: Promise<void>): Promise<void> {
  try {
    await sound;
  } catch (error) {
    await writer.call('forgetSequences');
    throw error;
  }
}

const secondsSince = (begun: number): number => (performance.now() - begun) / 1000;

/** As users look for them. */
function inFixedOrder(files: TablesWritten['files']): TablesWritten['files'] {
  const order = Object.values<string>(RESULT_FILES);
  return Object.fromEntries(
    Object.entries(files).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** As Promise.all, but fails only when the last of them has ended. */
async function allSettled<Values extends readonly unknown[]>(promises: {
  [K in keyof Values]: Promise<Values[K]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
