import { rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { RemovedModel } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { isKept, keptModels } from './listModels.ts';
import { modelFolderNamed } from './resolveModel.ts';
import { weightsFolder } from './weightsFolder.ts';

/** Deletes a published or imported model, or what an interrupted download has left of one. Files that other models use
 * stay. */
export async function removeModel(id: string, paths: AppPaths): Promise<Result<RemovedModel>> {
  const folder = modelFolderNamed(id, paths) ?? id;
  const kept = await keptModels(paths);
  const model = isKept(folder, paths) ? kept.find((entry) => entry.folder === folder) : undefined;
  if (!model) {
    const downloads = join(weightsFolder(paths), 'downloads');
    if (isKept(folder, paths) && (await stat(downloads).catch(() => undefined))) {
      await rm(downloads, { recursive: true });
      return ok({ freedBytes: 0, usedBy: [] });
    }
    return err(
      appError('model_unknown', `There is no model "${id}" that can be removed.`, {
        nextStep: 'The models that can be are listed with their names.',
      }),
    );
  }
  const others = kept.filter((entry) => entry !== model);
  const usedBy = others.filter((other) => other.files.some((file) => model.files.includes(file)));
  const needed = new Set(others.flatMap(({ files }) => files));
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
