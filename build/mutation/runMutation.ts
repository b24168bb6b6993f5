/**
 * `npm run test:mutation [SLICE...]`: changes the code of each slice in many small ways, and checks for each
 * change whether a test fails. Scores and survivors go to the terminal and to test-results/mutation/;
 * docs/mutation.md explains the known ones. The slice `python` is in python-backend/pyproject.toml.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { uvFileName } from '../../electron/engine/environment/install/uv.ts';
import { makeReaders } from '../../electron/engine/exports/testing/readers.ts';
import { fetchUv } from '../pack/fetchUv.ts';
import { testEnvironment } from '../pythonEnvironment.ts';
import { SLICES, SLICE_VARIABLE } from './slices.ts';

const root = join(import.meta.dirname, '..', '..');
const MUTMUT = 'mutmut==3.8.1';
const requested = process.argv.slice(2);
const known = [...Object.keys(SLICES), 'python'];
const unknown = requested.find((name) => !known.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`There is no slice "${unknown}"; there are ${known.join(', ')}.\n`);
  process.exit(1);
}
const report = join(root, 'test-results', 'mutation.json');
mkdirSync(join(root, 'test-results', 'mutation'), { recursive: true });
for (const name of Object.keys(SLICES)) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  if (name === 'exports') {
    // Stryker's copy of the repository has no Python, so the tests that read exports would be skipped there.
    const missing = makeReaders();
    if (missing !== undefined) process.stderr.write(`Exports are not read back: ${missing}\n`);
  }
  const { exitCode } = await execa(
    process.execPath,
    [
      join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js'),
      'run',
      join(import.meta.dirname, 'stryker.config.mjs'),
    ],
    { cwd: root, env: { [SLICE_VARIABLE]: name }, stdio: 'inherit', reject: false },
  );
  if (existsSync(report)) renameSync(report, join(root, 'test-results', 'mutation', `${name}.json`));
  if (exitCode !== 0) process.exitCode = 1;
}
if (requested.length === 0 || requested.includes('python')) await mutatePython();

async function mutatePython(): Promise<void> {
  process.stdout.write('\n== python\n');
  const { interpreter } = await testEnvironment();
  // mutmut is installed beside the environment, not in it, because it needs further packages that nothing
  // else uses.
  const mutmut = join(root, 'dist', 'mutmut');
  const uv = join(await fetchUv(), uvFileName(process.platform));
  await execa(uv, ['pip', 'install', '--quiet', '--python', interpreter, '--target', mutmut, MUTMUT]);
  const options = {
    cwd: join(root, 'python-backend'),
    env: { PYTHONPATH: mutmut },
    stdio: 'inherit',
    reject: false,
  } as const;
  const { exitCode } = await execa(interpreter, ['-m', 'mutmut', 'run', '--max-children', '1'], options);
  await execa(interpreter, ['-m', 'mutmut', 'results'], options);
  if (exitCode !== 0) process.exitCode = 1;
}
