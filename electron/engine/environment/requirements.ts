/** What is installed into an environment of ours, and how to tell later that it is still that. */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { gpuKindSchema } from '../../contract/rpc/computer.ts';
import type { AppPaths } from './appPaths.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { replaceFile } from '../files/replaceFile.ts';

/** `run` is what computing needs; `test` and `ray` come on top of it, for developers and for Ray clusters. */
export type RequirementSet = 'run' | 'test' | 'ray';

const FILES: Record<RequirementSet, string> = {
  run: 'requirements',
  test: 'requirements-test',
  ray: 'requirements-ray',
};

export function requirementsFile(set: RequirementSet, paths: AppPaths): string {
  return join(paths.pythonBackend, `${FILES[set]}.txt`);
}

/** The lock file: every package with its version and the hashes of its files, as `node build/lockPython.ts` writes it. */
export function lockFile(set: RequirementSet, paths: Pick<AppPaths, 'pythonBackend'>): string {
  return join(paths.pythonBackend, `${FILES[set]}.lock`);
}

/** Written last, when everything is installed and works; whatever is interrupted leaves none. */
const stampSchema = z.object({
  /** Environments of earlier versions, which were all made with pip, don't say. */
  installer: z.enum(['pip', 'uv']).default('pip'),
  /** That is installed, whichever was chosen. */
  torchBuild: z.string().nullable().default(null),
  /** The GPUs of other computers that it was chosen for; null for those of this one. */
  gpu: gpuKindSchema.nullable().default(null),
  /** Hash of each set's requirements that are installed. */
  hashes: z.object({
    run: z.string(),
    test: z.string().nullable(),
    ray: z.string().nullable().default(null),
  }),
  pythonVersion: z.string(),
  packages: z.record(z.string(), z.string()),
});
type EnvironmentStamp = z.infer<typeof stampSchema>;

export async function readStamp(folder: string): Promise<EnvironmentStamp | undefined> {
  return parseJson(stampSchema, await readFile(stampPath(folder), 'utf8').catch(() => undefined));
}

export async function writeStamp(folder: string, stamp: EnvironmentStamp): Promise<void> {
  const temporary = `${stampPath(folder)}.tmp`;
  await writeFile(temporary, `${JSON.stringify(stamp, null, 2)}\n`);
  replaceFile(temporary, stampPath(folder));
}

export async function removeStamp(folder: string): Promise<void> {
  await rm(stampPath(folder), { force: true });
}

/** Of what the installer goes by: uv by the lock file, pip by the requirements. */
export async function requirementsHash(
  set: RequirementSet,
  paths: AppPaths,
  installer: EnvironmentStamp['installer'],
): Promise<string> {
  const file = installer === 'uv' ? lockFile(set, paths) : requirementsFile(set, paths);
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}

function stampPath(folder: string): string {
  return join(folder, 'virnucpro-environment.json');
}
