/**
 * Computes a run until it is done or killed: node computingChild.ts FOLDER. Prepare is reported first, as on
 * every resume.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRunStore } from '../runStore.ts';
import { computeAll, HOST_ENTRY, reportPrepare } from './storeFixture.ts';
import type { SyntheticPrepare } from './syntheticRun.ts';

const folder = process.argv[2]!;
const saved = JSON.parse(readFileSync(join(folder, 'prepared.json'), 'utf8')) as SyntheticPrepare & {
  frames: [string, { row: number; chunk: number; frame: number }[]][];
};
const prepared: SyntheticPrepare = { ...saved, frames: new Map(saved.frames) };
const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
process.stdout.write('open\n');
await reportPrepare(store, prepared);
await computeAll({ folder, prepared, store });
await store.writeTables();
await store.close();
process.stdout.write('done\n');
