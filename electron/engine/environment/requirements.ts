/** What is installed into an environment of ours, and how to tell later that it is still that. */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { AppPaths } from './appPaths.ts';
import { cudaIndex } from './cudaIndex.ts';

export type RequirementSet = 'run' | 'test';

export interface InstallStep {
  readonly title: string;
  /** What pip is told to install. */
  readonly pipArguments: readonly string[];
}

export const INSTALL_STEP_COUNT = { run: 2, test: 3 } as const satisfies Record<RequirementSet, number>;

/** Old pips can't say how far a download is. */
const INSTALLER = 'pip==26.3';

export function installSteps(set: RequirementSet, paths: AppPaths): InstallStep[] {
  const steps = [
    { title: 'package installer', pipArguments: [INSTALLER] },
    {
      title: 'PyTorch and what computing needs',
      pipArguments: ['-r', requirementsFile('run', paths), ...cudaIndex()],
    },
  ];
  if (set === 'run') return steps;
  return [
    ...steps,
    { title: 'tools for tests and checks', pipArguments: ['-r', requirementsFile('test', paths)] },
  ];
}

function requirementsFile(set: RequirementSet, paths: AppPaths): string {
  return join(paths.pythonBackend, set === 'run' ? 'requirements.txt' : 'requirements-test.txt');
}

/** Written last, when everything is installed and works; whatever is interrupted leaves none. */
const stampSchema = z.object({
  /** Hash of each set's requirements that are installed. */
  hashes: z.object({ run: z.string(), test: z.string().nullable() }),
  pythonVersion: z.string(),
  packages: z.record(z.string(), z.string()),
});
export type EnvironmentStamp = z.infer<typeof stampSchema>;

export async function readStamp(folder: string): Promise<EnvironmentStamp | undefined> {
  try {
    return stampSchema.safeParse(JSON.parse(await readFile(stampPath(folder), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

export async function writeStamp(folder: string, stamp: EnvironmentStamp): Promise<void> {
  const temporary = `${stampPath(folder)}.tmp`;
  await writeFile(temporary, `${JSON.stringify(stamp, null, 2)}\n`);
  await rename(temporary, stampPath(folder));
}

export async function removeStamp(folder: string): Promise<void> {
  await rm(stampPath(folder), { force: true });
}

export async function requirementsHash(set: RequirementSet, paths: AppPaths): Promise<string> {
  return createHash('sha256')
    .update(await readFile(requirementsFile(set, paths)))
    .digest('hex');
}

function stampPath(folder: string): string {
  return join(folder, 'virnucpro-environment.json');
}
