/**
 * `npm run test:mutation [SLICE...]`: changes the code of each slice in many small ways, and asks of each change whether a test fails.
 * Scores and survivors go to the terminal and to test-results/mutation/; docs/mutation.md says what is known of them.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { SLICES, SLICE_VARIABLE } from './slices.ts';

const root = join(import.meta.dirname, '..', '..');
const requested = process.argv.slice(2);
const unknown = requested.find((name) => !(name in SLICES));
if (unknown !== undefined) {
  process.stderr.write(`There is no slice "${unknown}"; there are ${Object.keys(SLICES).join(', ')}.\n`);
  process.exit(1);
}
const report = join(root, 'test-results', 'mutation.json');
mkdirSync(join(root, 'test-results', 'mutation'), { recursive: true });
for (const [name, { mutate }] of Object.entries(SLICES)) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const { exitCode } = await execa(
    process.execPath,
    [
      join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js'),
      'run',
      join(import.meta.dirname, 'stryker.config.mjs'),
      ...['--mutate', [...mutate, '!**/*.test.ts'].join(',')],
    ],
    { cwd: root, env: { [SLICE_VARIABLE]: name }, stdio: 'inherit', reject: false },
  );
  if (existsSync(report)) renameSync(report, join(root, 'test-results', 'mutation', `${name}.json`));
  if (exitCode !== 0) process.exitCode = 1;
}
