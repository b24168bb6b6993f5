import { execa } from 'execa';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REAL_PYTHON, SAMPLE, temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

const BACKEND = join(import.meta.dirname, '..', '..', 'python-backend');
const LIMITS = { timeoutMs: 240_000 };

/**
 * Writes small weights in the published formats: ESM-2, DNABERT-S, its tokenizer, and a
 * classifier saved as a whole module.
 */
const WRITE = `
import shutil, sys
from pathlib import Path
sys.path.insert(0, "tests/weights")
from published_files import DEMO, hugging_face_esm2, write_dnabert_s, write_head
from test_importing import esm2_in
for name in sys.argv[2:]:
    folder = Path(sys.argv[1]) / name
    esm2_in(folder / "ESM-2")
    (folder / "DNABERT-S").mkdir()
    write_dnabert_s(folder / "DNABERT-S", prefix="", safetensors=False)
    shutil.copy(DEMO / "dnabert_s" / "tokenizer.json", folder / "DNABERT-S")
    write_head(folder / "500_model.pth")
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
