import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ModelManifest } from '../../contract/model.ts';
import { unwrap } from '../../contract/errors.ts';
import { resolveAppPaths } from '../environment/appPaths.ts';
import { installedModel } from './modelFiles.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

it('includes the notes of shared encoders, without which another model would download them again', async () => {
  const dataDir = temporaryFolder();
  const paths = { ...unwrap(resolveAppPaths()), dataDir };
  const weights = join(dataDir, 'weights');
  await mkdir(join(weights, 'shared'), { recursive: true });
  await cp(join(paths.resources, 'teaching-model'), join(weights, 'mine'), { recursive: true });
  const file = join(weights, 'mine', 'model.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as ModelManifest;
  for (const role of ['esm2', 'dnabert_s'] as const) {
    await rename(
      join(weights, 'mine', manifest.files[role].path),
      join(weights, 'shared', `${role}-0.safetensors`),
    );
    await writeFile(join(weights, 'shared', `${role}-0.json`), '{}');
    manifest.files[role].path = `../shared/${role}-0.safetensors`;
  }
  await writeFile(file, JSON.stringify(manifest));
  const { files } = unwrap(await installedModel('mine', paths));
  const taken = files.map(({ path }) => path).filter((path) => path.startsWith('shared/'));
  expect(taken.sort()).toEqual([
    'shared/dnabert_s-0.json',
    'shared/dnabert_s-0.safetensors',
    'shared/esm2-0.json',
    'shared/esm2-0.safetensors',
  ]);
  expect(files.map(({ path }) => path)).toContain('mine/model.json');
});
