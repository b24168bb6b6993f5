import { rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { RemovedModel } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { filesInUse, isKept, keptModels } from './listModels.ts';
import { leftovers, publishedModels } from './publishedModels.ts';
import { modelFolderNamed } from './resolveModel.ts';
import { downloadsFolder, weightsFolder } from './weightsFolder.ts';

/** Deletes a published or imported model, or what an interrupted download has left of one. Files that other models use
 * stay. */
export async function removeModel(id: string, paths: AppPaths): Promise<Result<RemovedModel>> {
  const folder = modelFolderNamed(id, paths) ?? id;
  const kept = await keptModels(paths);
  const model = isKept(folder, paths) ? kept.find((entry) => entry.folder === folder) : undefined;
  if (!model) {
    const freedBytes = await removeLeftovers(folder, kept, paths);
    if (freedBytes !== null) return ok({ freedBytes, usedBy: [] });
    return err(
      appError('model_unknown', `There is no model "${id}" that can be removed.`, {
        nextStep: 'The models that can be are listed with their names.',
      }),
    );
  }
  const others = kept.filter((entry) => entry !== model);
  const usedBy = others.filter((other) => other.files.some((file) => model.files.includes(file)));
  const needed = filesInUse(others);
  // Without it the folder is no model any more: what comes after may be interrupted.
  await rm(join(folder, 'model.json'));
  let freedBytes = 0;
  for (const file of new Set(model.files)) {
    if (needed.has(file)) continue;
    freedBytes += (await stat(file).catch(() => undefined))?.size ?? 0;
    await rm(file, { force: true });
    // The note about a converted encoder.
    if (dirname(file) !== folder) await rm(file.replace(/\.safetensors$/, '.json'), { force: true });
  }
  await rm(join(folder, 'checked.json'), { force: true });
  // Files that another model uses keep it.
  await rmdir(folder).catch(() => undefined);
  return ok({ freedBytes, usedBy: usedBy.map(({ manifest }) => manifest.title) });
}

/** Null where there are none. */
async function removeLeftovers(
  folder: string,
  kept: Awaited<ReturnType<typeof keptModels>>,
  paths: AppPaths,
): Promise<number | null> {
  const published = await publishedModels(paths);
  const model = published.find(({ name }) => join(weightsFolder(paths), name) === folder);
  const left = model ? await leftovers(model, paths, filesInUse(kept)) : [];
  if (left.length === 0) return null;
  for (const { path } of left) await rm(path, { force: true });
  const folders = new Set(
    left.map(({ path }) => dirname(path)).filter((place) => place.startsWith(downloadsFolder(paths))),
  );
  // What another download has left keeps them.
  for (const place of [...folders, downloadsFolder(paths)]) await rmdir(place).catch(() => undefined);
  return left.reduce((sum, { bytes }) => sum + bytes, 0);
}
