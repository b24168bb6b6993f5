/** Reads a model folder: its `model.json`, its hash, and whether its files are there. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ok, type Result, failWith } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { readJson } from '../../contract/parseJson.ts';
import { MODEL_ROLES, modelManifestSchema, type ModelManifest } from '../../contract/model.ts';
import type { CpuMemory } from '../../contract/model.ts';
import type { PlanModel } from '../../contract/plan.ts';
import { readRegular } from '../system/regularFile.ts';
import type { AppPaths } from '../environment/appPaths.ts';

/** A model that is present and complete, ready to be put into a plan. */
export interface ResolvedModel {
  readonly planModel: PlanModel;
  readonly chunkLength: number;
  readonly cpuMemory: CpuMemory;
}

/**
 * What a worker on a processor needs besides weights and residual streams: the interpreter, PyTorch, and
 * one batch.
 */
const WORKER_OVERHEAD_BYTES = 300e6;
const BYTES_PER_FP32 = 4;
const MOST_MANIFEST_BYTES = 2 ** 20;
/** The number of tokens that go through a layer together: SWEEP_TOKENS in encoders/mapped_layers.py. */
const SWEEP_TOKENS = 8192;

/**
 * Reads a model whose files are present with the right sizes. Their hashes are checked by the worker that
 * loads them: reading gigabytes twice would double the time to the first result.
 */
export async function readModelFolder(folder: string): Promise<Result<ResolvedModel>> {
  const manifest = await readManifest(folder);
  if (!manifest.ok) return manifest;
  for (const role of MODEL_ROLES) {
    const file = manifest.value.files[role];
    const path = join(folder, file.path);
    const info = await stat(path).catch(() => undefined);
    if (!info)
      return failWith('model_missing', message('model.lacks', { model: manifest.value.title, path }));
    if (info.size !== file.size) {
      const cause = message('model.wrong_size', { path, size: info.size, expected: file.size });
      return failWith('model_damaged', cause);
    }
  }
  return ok(describeModel(manifest.value, folder));
}

export async function readManifest(folder: string): Promise<Result<ModelManifest>> {
  const path = join(folder, 'model.json');
  const text = await readRegular(path, MOST_MANIFEST_BYTES).catch(() => undefined);
  if (text === undefined) {
    return failWith('model_unknown', `${folder} is not a model folder: there is no model.json in it.`);
  }
  const read = readJson(modelManifestSchema, text);
  if (read.ok) return ok(withNotice(read.value));
  return failWith('model_damaged', message('model.no_description', { path }), { detail: read.error });
}

/** SHA-256 over the roles and SHA-256s of the files, like the backend's ModelDescription.model_hash. */
function modelHash(manifest: ModelManifest): string {
  const lines = MODEL_ROLES.map((role) => `${role} ${manifest.files[role].sha256}\n`).join('');
  return createHash('sha256').update(lines).digest('hex');
}

function describeModel(manifest: ModelManifest, folder: string): ResolvedModel {
  return {
    planModel: {
      name: manifest.name,
      title: manifest.title,
      hash: modelHash(manifest),
      folder: resolve(folder),
      notice: manifest.notice,
      normBands: manifest.norm_bands,
    },
    chunkLength: manifest.chunk_length,
    cpuMemory: cpuMemory(manifest),
  };
}

/**
 * The encoders' files are shared by all workers; each worker has the feed-forward half of a layer of each
 * encoder in FP32 and one of its matrices once more while it is packed, as many numbers as a layer has, and
 * the residual streams of a sweep with the values to be added to them.
 */
function cpuMemory({ esm2, dnabert_s, files }: ModelManifest): CpuMemory {
  const attention = (width: number) => 4 * width * width;
  const layers =
    attention(esm2.width) +
    2 * esm2.width * esm2.feed_forward +
    attention(dnabert_s.width) +
    3 * dnabert_s.width * dnabert_s.feed_forward;
  const streams = SWEEP_TOKENS * 2 * esm2.width;
  return {
    sharedBytes: files.esm2.size + files.dnabert_s.size,
    perWorkerBytes: WORKER_OVERHEAD_BYTES + BYTES_PER_FP32 * (layers + streams),
  };
}

/** SHA-256 of the bundled ESM-2, DNABERT-S and classifier. */
const TEACHING_WEIGHTS: ReadonlySet<string> = new Set([
  '1050ebd1cb16709afddb40f2e0e11c3be0d2ccd27722745f65dc5141f2429330',
  '2e891bd48236f43acb143ed324ed749fc4a49f63c678fddb25d5d129845360cb',
  '28f6a2e17779453215e06762f2b77a1b48c23790494c535ed34924d6696797cf',
]);

/**
 * Marks these weights wherever they are: under another name, imported, or with their own `model.json`. One of
 * their files is enough.
 */
export function withNotice(manifest: ModelManifest): ModelManifest {
  const isTeaching = MODEL_ROLES.some((role) => TEACHING_WEIGHTS.has(manifest.files[role].sha256));
  return isTeaching ? { ...manifest, notice: 'teaching model, not for research' } : manifest;
}

export const PUBLISHED_MODELS = ['300', '500'] as const;

/** The folder of the downloaded and converted weights. */
export function weightsFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'weights');
}

/** The subfolder of the encoders, which models share. */
export const SHARED_WEIGHTS = 'shared';

/** The subfolder of downloads in progress: one folder for each source, as in the backend's install.py. */
export function downloadsFolder(paths: AppPaths): string {
  return join(weightsFolder(paths), 'downloads');
}
