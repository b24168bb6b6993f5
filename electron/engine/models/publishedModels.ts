/**
 * `resources/models.json`: the published models, the files that they consist of, and which of them are on
 * this computer.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ModelRole } from '../../contract/model.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { downloadsFolder, SHARED_WEIGHTS, weightsFolder } from './modelFolder.ts';

const fileSchema = z.object({
  role: z.enum(['esm2', 'dnabert_s', 'dnabert_s_config', 'tokenizer', 'head']),
  name: z.string(),
  size: z.int().optional(),
  /** Approximate bytes, if the size isn't known for certain. */
  about: z.int().optional(),
  sha256: z.string().optional(),
  /** The output of `git hash-object`, if nothing else is known about the content. */
  git_blob: z.string().optional(),
  source: z.string(),
  license: z.string().optional(),
  citation: z.string(),
});
type PublishedFile = z.infer<typeof fileSchema>;

const manifestSchema = z.object({
  files: z.record(z.string(), fileSchema),
  models: z.record(
    z.string(),
    z.object({ title: z.string(), chunk_length: z.int(), files: z.array(z.string()) }),
  ),
});

export interface PublishedModel {
  readonly name: string;
  readonly title: string;
  readonly chunkLength: number;
  readonly files: readonly PublishedFile[];
}

export async function publishedModels(paths: AppPaths): Promise<PublishedModel[]> {
  const text = await readFile(join(paths.resources, 'models.json'), 'utf8');
  const manifest = parseJson(manifestSchema, text);
  if (!manifest) throw new Error('resources/models.json is not as it should be.');
  const { files, models } = manifest;
  return Object.entries(models).map(([name, model]) => ({
    name,
    title: model.title,
    chunkLength: model.chunk_length,
    files: model.files.flatMap((key) => files[key] ?? []),
  }));
}

/**
 * The published model that a classifier belongs to, whatever its file name; undefined for any other content.
 */
export async function modelOfHead(content: Buffer, paths: AppPaths): Promise<PublishedModel | undefined> {
  const blob = createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
  return (await publishedModels(paths)).find(({ files }) => files.some(({ git_blob }) => git_blob === blob));
}

interface Download {
  /** Bytes of the files that are not on this computer in any form, or only in part. */
  readonly totalBytes: number;
  /** The part of these bytes that an interrupted download has left. */
  readonly fetchedBytes: number;
}

/**
 * Determines what would be downloaded for a model. Encoders are shared: those of another model are not
 * downloaded again.
 */
export async function downloadOf(model: PublishedModel, paths: AppPaths): Promise<Download> {
  const weights = weightsFolder(paths);
  let totalBytes = 0;
  let fetchedBytes = 0;
  for (const file of model.files) {
    const encoder = model.files.find(({ role }) => role === sourceOf(file));
    if (encoder?.sha256 !== undefined && (await hasEncoder(weights, encoder))) continue;
    const size = file.size ?? file.about ?? 0;
    totalBytes += size;
    fetchedBytes += Math.min(size, await fetched(join(downloadsFolder(paths), sourceOf(file), file.name)));
  }
  return { totalBytes, fetchedBytes };
}

/** A configuration is stored beside the weights that it belongs to. */
const sourceOf = ({ role }: PublishedFile): string => role.replace(/_config$/, '');

function encoderName({ role, sha256 = '' }: PublishedFile): string {
  return `${role}-${sha256.slice(0, 12)}`;
}

/** The source and licence terms of the file with this role. */
export function originOf(model: PublishedModel | undefined, role: ModelRole): PublishedFile | undefined {
  return model?.files.find((file) => file.role === role);
}

const noteSchema = z.object({ size: z.int() });

/** Like the backend's read_encoder: checks for a note, and for a file of the size that the note gives. */
async function hasEncoder(weights: string, file: PublishedFile): Promise<boolean> {
  const path = join(weights, SHARED_WEIGHTS, encoderName(file));
  const text = await readFile(`${path}.json`, 'utf8').catch(() => '');
  const note = text === '' ? undefined : parseJson(noteSchema, text);
  const info = await stat(`${path}.safetensors`).catch(() => undefined);
  return note !== undefined && info?.size === note.size;
}

/** Bytes of a file that was downloaded completely or in part. */
async function fetched(path: string): Promise<number> {
  const info = await stat(path).catch(() => stat(`${path}.part`).catch(() => undefined));
  return info?.size ?? 0;
}
