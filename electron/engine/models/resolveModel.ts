/**
 * Resolves what the user called a model (`teaching`, `300`, `500`, an imported model's name, a folder, a head
 * file) to a model that can be loaded.
 */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { PlanModel } from '../../contract/plan.ts';
import { err, type Result } from '../../contract/result.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { customHeadModel } from './customHead.ts';
import { readManifest, readModelFolder, type ResolvedModel } from './modelFolder.ts';
import { PUBLISHED_MODELS, weightsFolder } from './weightsFolder.ts';

/** Whether the choice is a name of one of our models, and not a path. */
export function isModelName(choice: string): boolean {
  return choice === 'teaching' || (PUBLISHED_MODELS as readonly string[]).includes(choice);
}

const BUNDLED_FOLDER = 'teaching-model';

/**
 * Where the model of a run is now. The teaching model is part of the program, which may have been moved since
 * the run started, or be mounted elsewhere at each start, like an AppImage. Its hash shows whether it is the
 * same model.
 */
export function modelFolderOf({ name, folder }: Pick<PlanModel, 'name' | 'folder'>, paths: AppPaths): string {
  const bundled = name === 'teaching' && /[^\\/]+$/.exec(folder)?.[0] === BUNDLED_FOLDER;
  return bundled ? join(paths.resources, BUNDLED_FOLDER) : folder;
}

export async function resolveModel(choice: string, paths: AppPaths): Promise<Result<ResolvedModel>> {
  if (choice === 'teaching') return readModelFolder(join(paths.resources, BUNDLED_FOLDER));
  if (isModelName(choice)) return publishedModel(choice, paths);
  const imported = modelFolderNamed(choice, paths);
  if (imported !== undefined && (await readManifest(imported)).ok) return readModelFolder(imported);
  const path = resolve(choice);
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory()) return readModelFolder(path);
  if (info?.isFile()) return customHeadModel(path, paths);
  return err(appError('model_unknown', message('model.unknown', { model: choice })));
}

/** Where a published or imported model with this name is; undefined if this can't be a name. */
export function modelFolderNamed(name: string, paths: AppPaths): string | undefined {
  return /^\w[^\\/:]*$/u.test(name) && !name.endsWith('.') ? join(weightsFolder(paths), name) : undefined;
}

/**
 * Finds the model of a run on this computer: where it was when the run was created, beside the program, or
 * among the weights. Its hash identifies it.
 */
export async function findModel(wanted: PlanModel, paths: AppPaths): Promise<Result<ResolvedModel>> {
  const there = await resolveModel(modelFolderOf(wanted, paths), paths);
  if (there.ok && there.value.planModel.hash === wanted.hash) return there;
  const weights = weightsFolder(paths);
  const names = await readdir(weights).catch(() => []);
  for (const folder of [join(paths.resources, BUNDLED_FOLDER), ...names.map((name) => join(weights, name))]) {
    const found = await readModelFolder(folder);
    if (found.ok && found.value.planModel.hash === wanted.hash) return found;
  }
  if (there.ok) {
    return err(
      appError('model_damaged', message('model.of_run_other', { title: wanted.title }), {
        nextStep: message('model.of_run_other.next'),
      }),
    );
  }
  if (there.error.code === 'model_damaged') return there;
  const nextStep = isModelName(wanted.name)
    ? `Get it with "virnucpro models get ${wanted.name}", then resume.`
    : `Copy its folder from the other computer into ${weights}, then resume.`;
  return err(
    appError('model_missing', message('model.of_run_missing', { title: wanted.title }), {
      nextStep,
      detail: there.error.cause,
    }),
  );
}

async function publishedModel(name: string, paths: AppPaths): Promise<Result<ResolvedModel>> {
  const folder = join(weightsFolder(paths), name);
  const found = await readModelFolder(folder);
  if (found.ok || found.error.code === 'model_damaged') return found;
  return err(
    appError('model_missing', message('model.weights_missing', { name }), {
      nextStep: `Get them with "virnucpro models get ${name}", or try the program with --model teaching.`,
      detail: found.error.cause,
    }),
  );
}
