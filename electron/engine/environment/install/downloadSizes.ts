/** How much a set-up fetches, as far as that is known ahead. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { AppPaths } from '../appPaths.ts';
import type { Machine } from '../machine/machine.ts';
import type { TorchChoice } from './choosePyTorch.ts';
import { parseJson } from '../../../contract/parseJson.ts';

/** Written by `node build/lockPython.ts` beside the lock file: bytes of the files for each kind of computer. */
const fileSchema = z.record(z.string(), z.object({ packages: z.int(), torch: z.int() }));

export interface DownloadSizes {
  readonly packages: number | null;
  readonly torch: number | null;
}

const UNKNOWN: DownloadSizes = { packages: null, torch: null };

/** The wheel of the build for processors on Linux, which is on PyTorch's own index. */
const CPU_ON_LINUX = 192_000_000;

export async function downloadSizes(
  paths: AppPaths,
  machine: Pick<Machine, 'platform' | 'arch'>,
  torch: Pick<TorchChoice, 'build' | 'index'>,
): Promise<DownloadSizes> {
  const text = await readFile(join(paths.pythonBackend, 'download-sizes.json'), 'utf8').catch(
    () => undefined,
  );
  const known = parseJson(fileSchema, text)?.[`${machine.platform}-${machine.arch}`];
  if (known === undefined) return UNKNOWN;
  if (torch.index === null) return known;
  // Of the other builds on that index, the installer says it as soon as it has looked there.
  return { packages: known.packages, torch: torch.build === 'cpu' ? CPU_ON_LINUX : null };
}
