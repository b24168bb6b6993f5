import { execa } from 'execa';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REAL_PYTHON, SAMPLE, temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

const BACKEND = join(import.meta.dirname, '..', '..', 'python-backend');
const LIMITS = { timeoutMs: 240_000 };

/** Writes small weights in the published formats. */
const WRITE = `
import sys
from pathlib import Path
sys.path += ["tests/weights", "tests/encoders"]
from published_files import write_published
for name in sys.argv[2:]:
    write_published(Path(sys.argv[1]) / name)
`;
const NAMES = ['one', 'two'];

it.skipIf(WITHOUT_PYTHON)('published weights are imported, used in a run, checked and removed', async () => {
  const parent = temporaryFolder();
  await execa(REAL_PYTHON, ['-c', WRITE, parent, ...NAMES], {
    cwd: BACKEND,
    env: { PYTHONPATH: join(BACKEND, 'src') },
  });
  const models = (...args: string[]) => succeeds(['models', ...args, '--python', REAL_PYTHON], LIMITS);
  for (const name of NAMES)
    await models('import', join(parent, name), '--name', name, '--chunk-length', '500');
  const broken = join(parent, '300_model.safetensors');
  await writeFile(broken, 'cut short');
  const refused = ['models', 'import', broken, '--chunk-length', '500', '--python', REAL_PYTHON];
  expect((await ended(virnucpro(refused, LIMITS))).code).toBe(1);
  const run = join(parent, 'run');
  const devices = ['--devices', 'cpu:1', '--python', REAL_PYTHON];
  await succeeds(['predict', SAMPLE, '-o', run, '--model', 'one', ...devices], LIMITS);
  expect((await readFile(join(run, 'chunks.tsv'), 'utf8')).split('\n').length).toBeGreaterThan(10);
  await models('verify', 'one');
  // Files are shared by content.
  expect(await models('remove', 'one')).toContain('what it shares with two is kept');
});
