/** Lists all models, published, imported and bundled: where each is, how large it is, and what it shares. */
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ok, type Result, failWith } from '../../contract/errors.ts';
import { MODEL_ROLES, type ModelManifest } from '../../contract/model.ts';
import { looksOf } from '../../contract/looks.ts';
import type { RemovedModel, ModelStatus } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { readManifest, readModelFolder, weightsFolder } from './modelFolder.ts';
import { publishedModels, downloadOf, originOf, type PublishedModel } from './publishedModels.ts';
import { modelFolderNamed } from './resolveModel.ts';

interface KeptModel {
  readonly folder: string;
  readonly manifest: ModelManifest;
  /** Absolute paths. */
  readonly files: readonly string[];
}

/**
 * Compares sizes, but not hashes: a worker compares those before it loads the model, and so does
 * `verifyModel`.
 */
export async function listModels(paths: AppPaths): Promise<ModelStatus[]> {
  const kept = await keptModels(paths);
  const published = await publishedModels(paths);
  const names = new Set(published.map(({ name }) => join(weightsFolder(paths), name)));
  const imported = kept.filter(({ folder }) => !names.has(folder));
  return [
    ...(await Promise.all(published.map((model) => publishedStatus(model, kept, paths)))),
    ...(await Promise.all(imported.map((model) => keptStatus(model, kept, undefined)))),
    ...(await bundledStatus(paths)),
  ];
}

/** The looks that the models of this computer allow, and the published ones that it could have. */
export const looksHere = async (paths: AppPaths): Promise<string[]> =>
  looksOf((await listModels(paths)).map(({ chunkLength }) => chunkLength));

async function keptModels(paths: AppPaths): Promise<KeptModel[]> {
  const weights = weightsFolder(paths);
  const entries = await readdir(weights, { withFileTypes: true }).catch(() => []);
  const models: KeptModel[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    if (!entry.isDirectory()) continue;
    const folder = join(weights, entry.name);
    const manifest = await readManifest(folder);
    if (manifest.ok)
      models.push({ folder, manifest: manifest.value, files: filesOf(folder, manifest.value) });
  }
  return models;
}

function filesInUse(kept: readonly KeptModel[]): Set<string> {
  return new Set(kept.flatMap(({ files }) => files));
}

function filesOf(folder: string, manifest: ModelManifest): string[] {
  return MODEL_ROLES.map((role) => resolve(folder, manifest.files[role].path));
}

async function publishedStatus(
  model: PublishedModel,
  kept: readonly KeptModel[],
  paths: AppPaths,
): Promise<ModelStatus> {
  const folder = join(weightsFolder(paths), model.name);
  const here = kept.find((entry) => entry.folder === folder);
  if (here) return keptStatus(here, kept, model);
  const { totalBytes, fetchedBytes } = await downloadOf(model, paths);
  return {
    ...NOTHING,
    id: model.name,
    title: model.title,
    kind: 'published',
    chunkLength: model.chunkLength,
    present: false,
    downloadBytes: totalBytes,
    fetchedBytes,
    folder,
    files: MODEL_ROLES.map((role) => {
      const origin = originOf(model, role);
      return { role, path: null, sizeBytes: origin?.size ?? origin?.about ?? 0, ...terms(origin) };
    }),
  };
}

async function keptStatus(
  model: KeptModel,
  kept: readonly KeptModel[],
  published: PublishedModel | undefined,
): Promise<ModelStatus> {
  const { folder, manifest, files } = model;
  const whole = await readModelFolder(folder);
  const others = kept.filter((other) => other !== model);
  const sharing = others.filter((other) => other.files.some((file) => files.includes(file)));
  const shared = new Set(sharing.flatMap((other) => other.files));
  const sizes = MODEL_ROLES.map((role) => manifest.files[role].size);
  return {
    ...NOTHING,
    id: published ? published.name : folder,
    title: manifest.title,
    kind: published ? 'published' : 'imported',
    notice: manifest.notice,
    chunkLength: manifest.chunk_length,
    present: whole.ok,
    problem: whole.ok ? null : whole.error,
    folder,
    sizeBytes: sum(sizes),
    freesBytes: sum(sizes.filter((_, index) => !shared.has(files[index] ?? ''))),
    sharedWith: sharing.map((other) => other.manifest.title),
    files: MODEL_ROLES.map((role, index) => ({
      role,
      path: files[index] ?? null,
      sizeBytes: manifest.files[role].size,
      ...terms(originOf(published, role)),
    })),
  };
}

async function bundledStatus(paths: AppPaths): Promise<ModelStatus[]> {
  const folder = join(paths.resources, 'teaching-model');
  const manifest = await readManifest(folder);
  if (!manifest.ok) return [];
  const status = await keptStatus(
    { folder, manifest: manifest.value, files: filesOf(folder, manifest.value) },
    [],
    undefined,
  );
  return [{ ...status, id: 'teaching', kind: 'teaching', freesBytes: 0 }];
}

const NOTHING = {
  notice: null,
  downloadBytes: null,
  fetchedBytes: 0,
  problem: null,
  sizeBytes: null,
  freesBytes: 0,
  sharedWith: [],
} satisfies Partial<ModelStatus>;

function terms(origin: { source: string; license?: string | undefined; citation: string } | undefined) {
  return {
    source: origin?.source ?? null,
    license: origin?.license ?? null,
    citation: origin?.citation ?? null,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Deletes a published or imported model. Files that other models use stay. */
export async function removeModel(id: string, paths: AppPaths): Promise<Result<RemovedModel>> {
  const folder = modelFolderNamed(id, paths) ?? id;
  const kept = await keptModels(paths);
  const model = kept.find((entry) => entry.folder === folder);
  if (!model) {
    return failWith('model_unknown', `There is no model "${id}" that can be removed.`, {
      nextStep: 'The models that can be are listed with their names.',
    });
  }
  const others = kept.filter((entry) => entry !== model);
  const usedBy = others.filter((other) => other.files.some((file) => model.files.includes(file)));
  const needed = filesInUse(others);
  // Without this file the folder no longer counts as a model, so the rest may be interrupted.
  await rm(join(folder, 'model.json'));
  let freedBytes = 0;
  for (const file of new Set(model.files)) {
    if (needed.has(file)) continue;
    freedBytes += (await stat(file).catch(() => undefined))?.size ?? 0;
    await rm(file, { force: true });
    // The note about a converted encoder.
    if (dirname(file) !== folder) await rm(file.replace(/\.safetensors$/, '.json'), { force: true });
  }
  // The folder stays if it contains files that another model uses.
  await rmdir(folder).catch(() => undefined);
  return ok({ freedBytes, usedBy: usedBy.map(({ manifest }) => manifest.title) });
}
