import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ok, type Result, failWith } from '../../contract/errors.ts';
import { MODEL_ROLES } from '../../contract/model.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { readManifest, SHARED_WEIGHTS, weightsFolder } from '../models/modelFolder.ts';
import { resolveModel } from '../models/resolveModel.ts';

export interface InstalledModel {
  readonly id: string;
  readonly title: string;
  /**
   * Paths are relative to the weights folder, with forward slashes; the SHA-256 is the one in the model's
   * description.
   */
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string | null }[];
}

/** Lists the files of a model in the weights folder. Models may share some of them. */
export async function installedModel(id: string, paths: AppPaths): Promise<Result<InstalledModel>> {
  const resolved = await resolveModel(id, paths);
  if (!resolved.ok) return resolved;
  const { folder, title } = resolved.value.planModel;
  const place = relative(weightsFolder(paths), folder);
  if (place.startsWith('..') || place === '') {
    return failWith(
      'model_unknown',
      `${title} is not among the weights of this program, and can't be taken along.`,
      {
        nextStep: 'Import it first, or copy its folder yourself.',
      },
    );
  }
  const manifest = await readManifest(folder);
  if (!manifest.ok) return manifest;
  const inWeights = (path: string): string =>
    relative(weightsFolder(paths), join(folder, path)).split(sep).join('/');
  const weights = MODEL_ROLES.map((role) => manifest.value.files[role]).map(({ path, size, sha256 }) => ({
    path: inWeights(path),
    size,
    sha256,
  }));
  // The description itself, and other files beside it, such as the record of where the files come from.
  const known = new Set(weights.map(({ path }) => path));
  const beside = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(json|txt|md)$/.test(entry.name))
    .map((entry) => ({ path: inWeights(entry.name), size: 0, sha256: null }))
    .filter(({ path }) => !known.has(path));
  return ok({ id, title, files: [...weights, ...beside, ...(await notesOf(weights, paths))] });
}

/**
 * A converted encoder in the shared folder has a note that names it: without the note, another model would
 * download it again.
 */
async function notesOf(
  weights: InstalledModel['files'],
  paths: AppPaths,
): Promise<InstalledModel['files'][number][]> {
  const names = weights
    .filter(({ path }) => path.startsWith(`${SHARED_WEIGHTS}/`))
    .map(({ path }) => path.replace(/\.safetensors$/, '.json'));
  const there = await Promise.all(
    names.map(async (name) =>
      (await stat(join(weightsFolder(paths), name)).catch(() => undefined))?.isFile(),
    ),
  );
  return names.filter((_, index) => there[index]).map((path) => ({ path, size: 0, sha256: null }));
}
