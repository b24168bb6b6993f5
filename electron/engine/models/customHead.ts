/**
 * A user's own classifier on the published encoders: it gets a small model folder beside theirs, created on
 * first use.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import type { ModelFile, ModelManifest } from '../../contract/model.ts';
import { err, type Result } from '../../contract/result.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { writeJson } from '../files/replaceFile.ts';
import { readManifest, readModelFolder, type ResolvedModel } from './modelFolder.ts';
import { modelOfHead } from './publishedModels.ts';
import { PUBLISHED_MODELS, weightsFolder } from './weightsFolder.ts';

const HEAD_ENDING = /\.(pth|pt|safetensors)$/i;

export async function customHeadModel(head: string, paths: AppPaths): Promise<Result<ResolvedModel>> {
  const ending = HEAD_ENDING.exec(head)?.[0];
  if (ending === undefined) {
    return err(
      appError(
        'model_unknown',
        `${head} is neither a model folder nor a head file (.pth, .pt, .safetensors).`,
      ),
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
  return err(
    appError('model_missing', 'A head file needs the published encoders, which are not on this computer.', {
      nextStep: 'Get them with "virnucpro models get 500".',
    }),
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
