import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { APP_PATHS } from '../testing/realFiles.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
import { listModels, removeModel } from './listModels.ts';
import { readManifest } from './modelFolder.ts';
import { publishedModels } from './publishedModels.ts';
import { resolveModel } from './resolveModel.ts';
import { putModel } from './testing/putModel.ts';

let data: string;
let paths: AppPaths;

beforeEach(() => {
  data = temporaryFolder();
  paths = { ...APP_PATHS, dataDir: data };
});

const put = (name: string, encoder?: string) => putModel(name, paths, encoder);
const model = async (id: string) => (await listModels(paths)).find((entry) => entry.id === id);

it('lists imported models with the files they share, and finds them by their names', async () => {
  const mine = await put('Gut phages');
  await put('500');
  expect((await listModels(paths)).map(({ id, kind, present }) => [id, kind, present])).toEqual([
    ['300', 'published', false],
    ['500', 'published', true],
    [mine, 'imported', true],
    ['teaching', 'teaching', true],
  ]);
  expect(await model('500')).toMatchObject({
    sizeBytes: 170,
    freesBytes: 20,
    sharedWith: ['Model Gut phages'],
  });
  expect((await model('500'))?.files[0]).toMatchObject({ license: 'MIT', role: 'esm2' });
  expect(await resolveModel('Gut phages', paths)).toMatchObject({
    ok: true,
    value: { planModel: { folder: mine, name: 'Gut phages' } },
  });
});

it('removes the files that no other model uses', async () => {
  const mine = await put('mine');
  await put('500');
  expect(await removeModel('mine', paths)).toEqual({
    ok: true,
    value: { freedBytes: 20, usedBy: ['Model 500'] },
  });
  expect(await readdir(join(data, 'weights'))).toEqual(['500', 'shared']);
  expect(await model('500')).toMatchObject({ present: true, sharedWith: [] });
  expect(await removeModel('500', paths)).toEqual({ ok: true, value: { freedBytes: 170, usedBy: [] } });
  expect((await readdir(join(data, 'weights', 'shared'))).filter((name) => name.endsWith('s'))).toEqual([]);
  expect(await removeModel(mine, paths)).toMatchObject({ ok: false, error: { code: 'model_unknown' } });
});

it('keeps a file that another model refers to', async () => {
  await put('500');
  const folder = await put('custom-1');
  const manifest = unwrap(await readManifest(folder));
  manifest.files.tokenizer.path = '../500/tokenizer.json';
  await writeFile(join(folder, 'model.json'), JSON.stringify(manifest));
  expect(await removeModel('500', paths)).toMatchObject({ ok: true, value: { freedBytes: 10 } });
  expect(await model(folder)).toMatchObject({ present: true });
});

it.each(['teaching', 'shared', '../elsewhere', '/', ''])('never removes %j', async (id) => {
  await put('500');
  expect(await removeModel(id, paths)).toMatchObject({ ok: false });
  expect(await model('500')).toMatchObject({ present: true });
});

it('reports what is still to download for a model', async () => {
  const [published] = await publishedModels(paths);
  const all = (published?.files ?? []).reduce((sum, { size, about }) => sum + (size ?? about ?? 0), 0);
  expect(all / 1e9).toBeCloseTo(6.15, 2);
  expect(await model('300')).toMatchObject({ present: false, downloadBytes: all, fetchedBytes: 0 });

  // The download was interrupted in the middle of ESM-2.
  const part = join(data, 'weights', 'downloads', 'esm2', 'esm2_t36_3B_UR50D.pt.part');
  await mkdir(join(part, '..'), { recursive: true });
  await writeFile(part, 'x'.repeat(1500));
  expect(await model('300')).toMatchObject({ downloadBytes: all, fetchedBytes: 1500 });

  // If the other model is installed, its encoders are not downloaded again.
  for (const role of ['esm2', 'dnabert_s']) {
    const sha256 = published?.files.find((file) => file.role === role)?.sha256 ?? '';
    await put('500', `${role}-${sha256.slice(0, 12)}`);
  }
  const rest = await model('300');
  expect(rest?.downloadBytes).toBeLessThan(10e6);
  expect(rest?.fetchedBytes).toBe(0);
});
