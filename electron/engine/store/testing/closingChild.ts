/**
 * Closes a run again and again while DuckDB computes an answer: node closingChild.ts FOLDER. It runs in its
 * own process, which would die if a thread were ended at the wrong moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openRunStore } from '../runStore.ts';
import { HOST_ENTRY } from './storeFixture.ts';

const [folder = ''] = process.argv.slice(2);
const sql = 'SELECT count(*) FROM range(300000) a JOIN range(300000) b ON a.range + b.range = 7';
let refused = 0;
for (let time = 0; time < 4; time++) {
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
  const asked = store
    .queryResults({ sql, samples: ['gut', 'soil'], tables: [], rows: 10, seconds: 60 })
    .catch(() => (refused += 1));
  await sleep(700 + 150 * time);
  await store.close();
  await asked;
}
process.stdout.write(`${refused} refused`);
