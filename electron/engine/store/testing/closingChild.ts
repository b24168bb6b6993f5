/**
 * Closes a run again and again while DuckDB computes answers: node closingChild.ts FOLDER. It runs in its own
 * process, which would die if a thread were ended at the wrong moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openRunStore } from '../runStore.ts';
import { HOST_ENTRY } from './storeFixture.ts';

const TIMES = 12;
const QUESTIONS = 50;

const [folder = ''] = process.argv.slice(2);
let refused = 0;
for (let time = 0; time < TIMES; time++) {
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
  const asked = Array.from({ length: QUESTIONS }, (_, i) =>
    store.scoreBins({ filter: { minLength: i } }, 1 + i).catch(() => (refused += 1)),
  );
  await sleep(15 * time);
  await store.close();
  await Promise.all(asked);
}
process.stdout.write(
  `closed ${TIMES} times, ${refused > QUESTIONS ? 'also' : 'never'} while questions were open`,
);
