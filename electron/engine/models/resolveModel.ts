/**
 * Resolves what the user called a model (`teaching`, `300`, `500`, an imported model's name, a folder, a head
 * file) to a model that can be loaded.
 */
import { readdir, stat, copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve, basename } from 'node:path';
import { createHash } from 'node:crypto';
import { type Result, failWith, ok } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { PlanModel } from '../../contract/plan.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import {
  readManifest,
  readModelFolder,
  type ResolvedModel,
  PUBLISHED_MODELS,
  weightsFolder,
} from './modelFolder.ts';
import type { ModelFile, ModelManifest } from '../../contract/model.ts';
import { writeJson } from '../system/replaceFile.ts';
import { modelOfHead, publishedModels } from './publishedModels.ts';

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
  return failWith('model_unknown', message('model.unknown', { model: choice }));
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
    return failWith('model_damaged', message('model.of_run_other', { title: wanted.title }));
  }
  if (there.error.code === 'model_damaged') return there;
  const nextStep = isModelName(wanted.name)
    ? `Get it with "virnucpro models get ${wanted.name}", then resume.`
    : `Copy its folder from the other computer into ${weights}, then resume.`;
  return failWith('model_missing', message('model.of_run_missing', { title: wanted.title }), {
    nextStep,
    detail: there.error.cause,
  });
}

/**
 * The model whose classifier judges shorter chunks: of a published model, the one published for their length.
 * Undefined if there is none, so that the model's own classifier judges them too. The encoders must be the same.
 */
export async function resolveSecondModel(
  { planModel }: ResolvedModel,
  chunkLength: number,
  paths: AppPaths,
): Promise<Result<PlanModel | undefined>> {
  const published = await publishedModels(paths);
  const ofLength = published.find((model) => model.chunkLength === chunkLength);
  if (!ofLength || !published.some(({ name }) => name === planModel.name) || ofLength.name === planModel.name)
    return ok(undefined);
  const second = await publishedModel(ofLength.name, paths);
  if (!second.ok) return second;
  const [first, other] = [
    await readManifest(planModel.folder),
    await readManifest(second.value.planModel.folder),
  ];
  if (!first.ok) return first;
  if (!other.ok) return other;
  const differs = (['esm2', 'dnabert_s', 'tokenizer'] as const).some(
    (role) => first.value.files[role].sha256 !== other.value.files[role].sha256,
  );
  if (differs) return failWith('model_damaged', message('model.other_encoders', { name: ofLength.name }));
  return ok(second.value.planModel);
}

async function publishedModel(name: string, paths: AppPaths): Promise<Result<ResolvedModel>> {
  const folder = join(weightsFolder(paths), name);
  const found = await readModelFolder(folder);
  if (found.ok || found.error.code === 'model_damaged') return found;
  return failWith('model_missing', message('model.weights_missing', { name }), {
    nextStep: `Get them with "virnucpro models get ${name}", or try the program with --model teaching.`,
    detail: found.error.cause,
  });
}

const HEAD_ENDING = /\.(pth|pt|safetensors)$/i;

/**
 * A user's own classifier on the published encoders: it gets a small model folder beside theirs, created on
 * first use.
 */
async function customHeadModel(head: string, paths: AppPaths): Promise<Result<ResolvedModel>> {
  const ending = HEAD_ENDING.exec(head)?.[0];
  if (ending === undefined) {
    return failWith(
      'model_unknown',
      `${head} is neither a model folder nor a head file (.pth, .pt, .safetensors).`,
    );
  }
  const base = await encodersOf(paths);
  if (!base.ok) return base;
  const content = await readFile(head);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const published = await modelOfHead(content, paths);
  const name = `custom-${sha256.slice(0, 12)}`;
  const folder = join(weightsFolder(paths), name);
  await mkdir(folder, { recursive: true });
  const headFile = `head${ending.toLowerCase()}`;
  await copyFile(head, join(folder, headFile));
  const manifest: ModelManifest = {
    ...base.value.manifest,
    name,
    title: `Own classifier ${basename(head)} on the published encoders`,
    files: {
      ...seenFromBeside(base.value.manifest.files, base.value.name),
      head: { path: headFile, size: content.byteLength, sha256 },
    },
    chunk_length: published?.chunkLength ?? base.value.manifest.chunk_length,
    norm_bands: null,
  };
  writeJson(join(folder, 'model.json'), manifest);
  return readModelFolder(folder);
}

/** The encoders are the same for every published model; any model that is installed will do. */
async function encodersOf(paths: AppPaths): Promise<Result<{ name: string; manifest: ModelManifest }>> {
  for (const name of [...PUBLISHED_MODELS].reverse()) {
    const manifest = await readManifest(join(weightsFolder(paths), name));
    if (manifest.ok) return { ok: true, value: { name, manifest: manifest.value } };
  }
  return failWith(
    'model_missing',
    'A head file needs the published encoders, which are not on this computer.',
    {
      nextStep: 'Get them with "virnucpro models get 500".',
    },
  );
}

function seenFromBeside(files: ModelManifest['files'], folder: string): ModelManifest['files'] {
  const moved = (file: ModelFile): ModelFile =>
    file.path.startsWith('../') ? file : { ...file, path: `../${folder}/${file.path}` };
  return {
    esm2: moved(files.esm2),
    dnabert_s: moved(files.dnabert_s),
    tokenizer: moved(files.tokenizer),
    head: moved(files.head),
  };
}
