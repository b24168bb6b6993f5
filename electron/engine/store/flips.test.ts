import { expect, it } from 'vitest';
import { RESULT_FILES, TEXT_TABLES } from '../../contract/results.ts';
import { isRunSound, verifyRun } from '../run/verifyRun.ts';
import { openRunWriter } from './runDatabase.ts';
import { describeStoreError } from './sqlite/database.ts';
import { allOf } from './storeThread.ts';
import { filesOf, flippedRuns, settle, writeFiles, type Files, type Sample } from './testing/flips.ts';
import { HOST_ENTRY, reportPrepare } from './testing/storeFixture.ts';

/** For a longer test: VIRNUCPRO_FLIPS=10000. */
const FLIPS = Number(process.env['VIRNUCPRO_FLIPS'] ?? 60);
const SEED = Number(process.env['VIRNUCPRO_SEED'] ?? 20_261_122);

/** Tables that need only run.db; the other result files are stand-ins here. */
const TABLES = [...TEXT_TABLES, 'results', 'failedFiles', 'failedRecords'] as const;

const tablesOf = (files: Files) => TABLES.map((table) => files.get(RESULT_FILES[table])?.toString('base64'));

/** What an attempt gives, or null if it is refused in words. */
async function unlessRefused<Outcome>(folder: string, attempt: Promise<Outcome>): Promise<Outcome | null> {
  try {
    return await attempt;
  } catch (error) {
    if (describeStoreError(error, folder).code === 'internal') throw error;
    return null;
  }
}

/** Continues the run as the engine does: repairs damage, computes waiting parts, writes the tables. */
async function resume(folder: string, { prepared, work }: Sample): Promise<Files> {
  const store = allOf(openRunWriter(folder, null).groups);
  try {
    store.loadRun();
    store.repairDamage();
    if (store.verifyPendingParts().length > 0) store.invalidatePrepare();
    if (store.loadRun().prepared === null) {
      writeFiles(folder, work);
      await reportPrepare(store, prepared);
    }
    for (const { key } of store.pendingParts()) await settle({ folder, prepared, store }, key);
    store.refuseDamage();
    await store.writeTables();
  } finally {
    await store.close();
  }
  return filesOf(folder);
}

it('finds each flipped bit of a run, or gives the same tables', { timeout: 0 }, async () => {
  const changed: string[] = [];
  let found = 0;
  let whole: unknown;
  for await (const { sample, folder, where } of flippedRuns(FLIPS, SEED, ['run.db'])) {
    // The first run is a finished one.
    whole ??= tablesOf(sample.files);
    const files = await unlessRefused(folder, verifyRun({ storeHost: HOST_ENTRY }, folder));
    if (files === null || !isRunSound(files)) found += 1;
    const resumed = await unlessRefused(folder, resume(folder, sample));
    if (resumed && JSON.stringify(tablesOf(resumed)) !== JSON.stringify(whole)) changed.push(where);
  }
  expect(changed).toEqual([]);
  // If fewer were found, the test itself would be broken.
  expect(found).toBeGreaterThan(FLIPS / 4);
});
