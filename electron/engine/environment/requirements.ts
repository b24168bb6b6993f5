/**
 * Defines what is installed into our own environment, and the record that later shows that it is still
 * installed.
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { gpuKindSchema } from '../../contract/rpc/computer.ts';
import type { AppPaths } from './appPaths.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { writeJson } from '../system/replaceFile.ts';

/** `run` is what computing needs; `test` is installed in addition, for developers. */
export type RequirementSet = 'run' | 'test';

type Backend = Pick<AppPaths, 'pythonBackend'>;

/**
 * The lock file lists every package with its version and the hashes of its files, as written by `node
 * build/lockPython.ts`.
 */
export function lockFile(set: RequirementSet, { pythonBackend }: Backend): string {
  return join(pythonBackend, set === 'run' ? 'requirements.lock' : `requirements-${set}.lock`);
}

export async function requirementsHash(set: RequirementSet, paths: Backend): Promise<string> {
  return createHash('sha256')
    .update(await readFile(lockFile(set, paths)))
    .digest('hex');
}

/** PyTorch and the packages that only some of its builds need. */
export const OF_TORCH = /^(torch|triton|cuda-|nvidia-(?!ml-py\b))/;

/**
 * The lock file without PyTorch and its dependencies, for a build of PyTorch that is not on the ordinary
 * index.
 */
export async function lockWithoutTorch(set: RequirementSet, paths: Backend): Promise<string> {
  // An entry starts at the margin; its hashes are indented.
  const entries = (await readFile(lockFile(set, paths), 'utf8')).split(/^(?=[A-Za-z0-9])/m);
  return entries.filter((entry) => !OF_TORCH.test(entry)).join('');
}

/** The version that requirements.txt pins PyTorch to, such as 2.13.0. */
export async function torchVersion({ pythonBackend }: Backend): Promise<string> {
  const text = await readFile(join(pythonBackend, 'requirements.txt'), 'utf8');
  const version = /^torch==(\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error('requirements.txt does not pin torch');
  return version;
}

/** Written last, when everything is installed and works: an interrupted set-up leaves no stamp. */
const stampSchema = z.object({
  /**
   * An environment from another installer counts as unfinished: its packages may differ from those in the
   * lock file.
   */
  installer: z.literal('uv'),
  /** The build of PyTorch that is installed, even if another one was chosen. */
  torchBuild: z.string(),
  /** The GPUs of other computers that it was chosen for; null for those of this one. */
  gpu: gpuKindSchema.nullable(),
  /** Hash of each set's lock file; null if the set is not installed. */
  hashes: z.object({ run: z.string(), test: z.string().nullable() }),
  pythonVersion: z.string(),
  packages: z.record(z.string(), z.string()),
});
export type EnvironmentStamp = z.infer<typeof stampSchema>;

export async function readStamp(folder: string): Promise<EnvironmentStamp | undefined> {
  return parseJson(stampSchema, await readFile(stampPath(folder), 'utf8').catch(() => undefined));
}

export function writeStamp(folder: string, stamp: EnvironmentStamp): void {
  writeJson(stampPath(folder), stamp);
}

export async function removeStamp(folder: string): Promise<void> {
  await rm(stampPath(folder), { force: true });
}

function stampPath(folder: string): string {
  return join(folder, 'virnucpro-environment.json');
}
