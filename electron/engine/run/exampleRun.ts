import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXAMPLE_FILE } from '../../contract/plan.ts';
import { runRequestSchema, type RunRequest } from '../../contract/rpc/runs.ts';
import type { AppPaths } from '../environment/appPaths.ts';

export const exampleInput = (paths: AppPaths): string => join(paths.resources, EXAMPLE_FILE);

/**
 * Requests a run of fragments of crAssphage among contigs of a gut with the teaching model; it needs no choices
 * and no download.
 */
export async function exampleRequest(paths: AppPaths, outputDir: string): Promise<RunRequest> {
  return runRequestSchema.parse({
    inputs: [await lastingExample(paths)],
    outputDir,
    name: 'Example',
    model: 'teaching',
    devices: 'auto',
    force: true,
  });
}

/**
 * A copy of the example in the data folder: the program may be moved before the run is resumed, or be mounted
 * elsewhere at each start, like an AppImage.
 */
async function lastingExample(paths: AppPaths): Promise<string> {
  const [example, copy] = [exampleInput(paths), join(paths.dataDir, EXAMPLE_FILE)];
  try {
    await mkdir(paths.dataDir, { recursive: true });
    await writeFile(copy, await readFile(example));
    return copy;
  } catch {
    // The data folder can't be written to, so the run is stored elsewhere.
    return example;
  }
}
