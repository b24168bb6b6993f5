import { RESULT_FILES } from '../../contract/results.ts';
import type { TablesPrepared, TablesWritten } from '../results/types.ts';
import type { RunMethods } from './sqlite/runMethods.ts';
import type { StoreThread } from './storeThread.ts';

export type RunThread = StoreThread<RunMethods>;

/** Writing the tables of this many frames takes about as long as starting a thread. */
export const FRAMES_WORTH_A_THREAD = 50_000;

/**
 * Compares everything stored with its digests and writes the tables. For large runs this happens at the same
 * time in three threads beside the writing one; tables appear, and `meanwhile` is called, only if nothing is
 * damaged. If `openReader` is null because only one connection may have the database open, and for small
 * runs, they happen in turn. A run that is cut off in between is not done, and writes everything again. After
 * a failure, nothing is still running when the promise settles.
 */
export async function writeResults(
  writer: RunThread,
  openReader: (() => Promise<RunThread>) | null,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<TablesWritten> {
  const begun = performance.now();
  const { frames } = await writer.call('counts');
  const written =
    openReader && frames.total >= FRAMES_WORTH_A_THREAD
      ? await writeAtOnce(openReader, meanwhile)
      : await writeInTurn(writer, meanwhile);
  return { ...written, files: inFixedOrder(written.files), seconds: secondsSince(begun) };
}

async function writeInTurn(writer: RunThread, meanwhile: () => Promise<void>): Promise<TablesPrepared> {
  await writer.call('refuseDamage');
  const [written] = await allSettled([writer.call('writeTables'), meanwhile()]);
  return written;
}

async function writeAtOnce(
  openReader: () => Promise<RunThread>,
  meanwhile: () => Promise<void>,
): Promise<TablesPrepared> {
  const readers: RunThread[] = [];
  const open = async (): Promise<RunThread> => {
    const reader = await openReader();
    readers.push(reader);
    return reader;
  };
  try {
    const [checking, texts, columns] = [await open(), await open(), await open()];
    const sound = checking.call('refuseDamage');
    const sorted = sound.then(() => checking.call('prepareSortedTable'));
    const inOrder = texts.call('prepareTextTables');
    const results = columns.call('prepareResultFile');
    const tables = Promise.all([inOrder, results, sorted]).then(
      async ([{ counts, files }, parquet, last]) => {
        await Promise.all(readers.map((reader) => reader.call('publishTables')));
        return { counts, files: { ...files, ...parquet.files, ...last.files } };
      },
    );
    try {
      const [written] = await allSettled([tables, sound.then(meanwhile), inOrder, results]);
      return written;
    } catch (error) {
      await Promise.all(readers.map((reader) => reader.call('discardTables')));
      throw error;
    }
  } finally {
    for (const reader of readers) await reader.close();
  }
}

const secondsSince = (begun: number): number => (performance.now() - begun) / 1000;

/** In the order in which users look for them. */
function inFixedOrder(files: TablesWritten['files']): TablesWritten['files'] {
  const order = Object.values<string>(RESULT_FILES);
  return Object.fromEntries(
    Object.entries(files).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** Like Promise.all, but rejects only once all of them have ended. */
async function allSettled<Values extends readonly unknown[]>(promises: {
  [K in keyof Values]: Promise<Values[K]>;
}): Promise<Values> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
