/**
 * `npm run node -- electron/engine/store/testing/runFlips.ts [flips] [seed]`: flips bits of runs and counts the
 * outcomes.
 */
import { tryFlips } from './flips.ts';

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
process.stdout.write(`${count} flips, seed ${seed}\n`);
const begun = performance.now();
const counts = await tryFlips(count, seed, (tried) => {
  if (tried % 500 === 0) process.stderr.write(`${tried}\n`);
});
const seconds = Math.round((performance.now() - begun) / 1000);
process.stdout.write(`${JSON.stringify({ ...counts, changed: counts.changed.length })} in ${seconds} s\n`);
for (const where of counts.changed) process.stdout.write(`CHANGED ${where}\n`);
process.exitCode = counts.changed.length > 0 ? 1 : 0;
