/** `npm run test:fuzz -- [minutes] [seed]`: sends random values to every schema and reader; each round has the next seed. */
import { fuzz } from './fuzz.ts';

const VALUES_A_ROUND = 500;
const minutes = Number(process.argv[2] ?? 5);
let seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
let tried = 0;
process.stdout.write(`${minutes} minutes from seed ${seed}\n`);
for (const begun = performance.now(); performance.now() - begun < minutes * 60_000; seed++) {
  tried += fuzz(VALUES_A_ROUND, seed).tried;
  process.stdout.write(`seed ${seed}: ${tried} values tried\n`);
}
