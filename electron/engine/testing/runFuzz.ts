/**
 * `npm run node -- electron/engine/testing/runFuzz.ts [minutes] [seed]`: sends random values to every schema and damaged
 * files to every reader, with half of the time for each; each round uses the next seed.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { APP_PATHS, REAL_PYTHON } from './realFiles.ts';
import { fuzz } from './fuzz.ts';

const VALUES_A_ROUND = 500;
const minutes = Number(process.argv[2] ?? 5);
let seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
let tried = 0;
process.stdout.write(`${minutes} minutes from seed ${seed}\n`);
for (const begun = performance.now(); performance.now() - begun < minutes * 30_000; seed++) {
  tried += fuzz(VALUES_A_ROUND, seed).tried;
  process.stdout.write(`seed ${seed}: ${tried} values tried\n`);
}

const backend = join(APP_PATHS.root, 'python-backend');
const script = join(backend, 'tests', 'fuzz_readers.py');
const { status } = spawnSync(REAL_PYTHON, [script, String(minutes / 2), String(seed)], {
  stdio: 'inherit',
  env: { ...process.env, PYTHONPATH: join(backend, 'src') },
});
process.exitCode = status ?? 1;
