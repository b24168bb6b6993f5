/**
 * A folder that sets up a computer without a network: its layout, and whether it can set up this computer.
 */
import { mkdir, stat, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { appError, type AppError, ok, type Result, failWith } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { OFFLINE_LIST, OFFLINE_PACKING, type OfflineFolder } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { INDEX_SETTINGS } from '../environment/install/uv.ts';
import { lookAtMachine, unsupportedMachine, type Machine } from '../environment/machine.ts';
import { requirementsHash } from '../environment/requirements.ts';
import { runCommand } from '../environment/runCommand.ts';
import { hashFile } from '../system/hashFile.ts';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { replaceFile } from '../system/replaceFile.ts';

/** Uses forward slashes, and never leads out of the folder. */
const relativePathSchema = z.string().regex(/^(?:(?!\.\.?(?:\/|$))[^\\:/]+(?:\/(?!$)|$))+$/);

const manifestSchema = z.object({
  schema: z.literal(2),
  /** Version of the program that packed it. */
  appVersion: z.string(),
  /** System and processor, such as linux-x64. */
  platform: z.string(),
  torchBuild: z.string(),
  python: z.object({
    version: z.string().regex(/^3\.\d{1,2}$/),
    /** Whether Python is in the folder; otherwise the computer to be set up must have it. */
    packed: z.boolean(),
  }),
  /** Where the packages come from: uv finds them in its cache by that. */
  indexes: z.record(z.string(), z.string()),
  /** SHA-256 of the lock file that lists the packages: another version of the program needs others. */
  requirements: z.string(),
  models: z.array(z.object({ id: z.string(), title: z.string() })),
  files: z.array(z.object({ path: relativePathSchema, size: z.int(), sha256: z.string() })),
});
export type OfflineManifest = z.infer<typeof manifestSchema>;
export type OfflineFile = OfflineManifest['files'][number];

export const PLACES = {
  /** uv's cache. */
  packages: 'packages.tar.gz',
  weights: 'weights',
} as const;

/** Whether a folder was packed completely or in part, whatever its name is. */
export async function isOfflineFolder(folder: string): Promise<boolean> {
  const marks = [OFFLINE_LIST, OFFLINE_PACKING].map((name) =>
    stat(join(folder, name)).catch(() => undefined),
  );
  return (await Promise.all(marks)).some((info) => info?.isFile());
}

export async function readOfflineManifest(folder: string): Promise<Result<OfflineManifest>> {
  const text = await readFile(join(folder, OFFLINE_LIST), 'utf8').catch(() => undefined);
  if (text === undefined) {
    const unfinished = await stat(join(folder, OFFLINE_PACKING)).catch(() => undefined);
    return unfinished
      ? refuse(message('offline.unfinished'))
      : refuse(message('offline.other', { folder, list: OFFLINE_LIST }));
  }
  const manifest = parseJson(manifestSchema, text);
  return manifest === undefined ? damaged(OFFLINE_LIST) : ok(manifest);
}

/** Reads every file. `onBytes` is called with the number of bytes read since the last call. */
export async function verifyOfflineFolder(
  folder: string,
  { files }: OfflineManifest,
  onBytes: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<Result<void>> {
  for (const { path, size, sha256 } of files) {
    const info = await stat(join(folder, path)).catch(() => undefined);
    if (info === undefined) return damaged(path, 'It is missing.');
    if (info.size !== size) return damaged(path, `It has ${info.size} bytes instead of ${size}.`);
    const found = await hashFile(join(folder, path), onBytes, signal).catch((reason: unknown) => {
      signal?.throwIfAborted();
      return String(reason);
    });
    if (found !== sha256) return damaged(path, `Its SHA-256 is ${found}, not ${sha256}.`);
  }
  return ok(undefined);
}

/** Settings for a set-up that takes everything from uv's cache, as it was filled where the folder was packed. */
export function withoutNetwork(
  { python, indexes }: OfflineManifest,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const apart = Object.fromEntries(INDEX_SETTINGS.map((name) => [name, indexes[name]]));
  const UV_PYTHON = python.packed ? undefined : python.version;
  return { ...env, ...apart, UV_FIND_LINKS: '', UV_PYTHON, UV_OFFLINE: '1' };
}

/** Describes a folder from its list alone: damage to its files is detected before the first one is used. */
export async function lookAtFolder(folder: string, paths: AppPaths): Promise<OfflineFolder> {
  if (!(await isOfflineFolder(folder))) return { state: 'other' };
  const read = await readOfflineManifest(folder);
  if (!read.ok) return { state: 'unusable', error: read.error };
  const { python, torchBuild, models, files } = read.value;
  const unfit = await unfitFor(await lookAtMachine(runCommand, process.env), read.value, paths);
  if (unfit) return { state: 'unusable', error: unfit };
  return {
    state: 'usable',
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    packedPython: python.packed ? python.version : null,
    torchBuild,
    models: models.map(({ title }) => title),
  };
}

/** Why a folder can't set up a computer even if it is undamaged; null if it can. */
export async function unfitFor(
  machine: Machine,
  manifest: OfflineManifest,
  paths: AppPaths,
): Promise<AppError | null> {
  const unsupported = unsupportedMachine(machine);
  if (unsupported) return unsupported;
  const here = `${machine.platform}-${machine.arch}`;
  if (manifest.platform !== here) {
    return appError(
      'offline_folder_unusable',
      message('offline.platform', { platform: manifest.platform, here }),
    );
  }
  if (manifest.requirements !== (await requirementsHash('run', paths))) {
    return appError('offline_folder_unusable', message('offline.version', { version: manifest.appVersion }));
  }
  return null;
}

function damaged(path: string, detail?: string): Result<never> {
  return refuse(message('offline.damaged', { file: path }), detail);
}

const refuse = (cause: Message, detail?: string): Result<never> =>
  failWith('offline_folder_unusable', cause, { detail });

/**
 * Copies a file of gigabytes, and gives it its name only when it is complete. An existing file of the right
 * size stays.
 */
export async function copyLargeFile(
  from: string,
  to: string,
  onBytes: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { size } = await stat(from);
  const there = await stat(to).catch(() => undefined);
  if (there?.size === size) {
    onBytes(size);
    return;
  }
  await mkdir(dirname(to), { recursive: true });
  const source = createReadStream(from, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => {
    onBytes(chunk.length);
  });
  await pipeline(source, createWriteStream(`${to}.part`), { signal });
  replaceFile(`${to}.part`, to);
}
