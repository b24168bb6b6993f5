import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unwrap } from '../../../contract/errors.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { readManifest } from '../modelFolder.ts';

/** A model of a few bytes as the backend stores it: encoders shared, everything else in its own folder. */
export async function putModel(name: string, paths: AppPaths, esm2 = 'esm2-aa'): Promise<string> {
  const folder = join(paths.dataDir, 'weights', name);
  const shared = join(folder, '..', 'shared');
  for (const place of [folder, shared]) await mkdir(place, { recursive: true });
  const file = async (path: string, size: number) => {
    await writeFile(join(folder, path), Buffer.alloc(size));
    return { path, size, sha256: 'a'.repeat(64) };
  };
  const encoder = async (id: string, size: number) => {
    await writeFile(join(shared, `${id}.json`), JSON.stringify({ size }));
    return file(`../shared/${id}.safetensors`, size);
  };
  const files = {
    esm2: await encoder(esm2, 100),
    dnabert_s: await encoder('dnabert_s-bb', 50),
    tokenizer: await file('tokenizer.json', 10),
    head: await file('head.safetensors', 10),
  };
  const teaching = unwrap(await readManifest(join(paths.resources, 'teaching-model')));
  const manifest = { ...teaching, name, title: `Model ${name}`, notice: null, files };
  await writeFile(join(folder, 'model.json'), JSON.stringify(manifest));
  return folder;
}
