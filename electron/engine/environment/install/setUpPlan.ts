/**
 * Determines what a set-up would download and where it would write, so that this can be shown before it
 * starts.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../contract/parseJson.ts';
import { ok, err, type Result } from '../../../contract/errors.ts';
import { gpuKindSchema, type OfflineChoices, type SetUpPlan } from '../../../contract/rpc/computer.ts';
import type { AppPaths } from '../appPaths.ts';
import { lookAtMachine, unsupportedMachine } from '../machine.ts';
import { runCommand } from '../runCommand.ts';
import { choosePyTorch, gpuKindOf, pyTorchFor, type TorchChoice } from './choosePyTorch.ts';

/**
 * Wheels are compressed: the environments for CUDA 13 and for processors, measured on Linux, take this many
 * bytes on disk for each byte downloaded, including Python itself.
 */
const DISK_PER_BYTE = 2.8;
const PYTHON_BYTES = 400_000_000;

/** Plans everything but the free space. Returns an error if this computer can't compute at all. */
export async function planSetUp(
  paths: AppPaths,
  env: NodeJS.ProcessEnv,
): Promise<Result<Omit<SetUpPlan, 'diskFreeBytes'>>> {
  const machine = await lookAtMachine(runCommand, env);
  const unsupported = unsupportedMachine(machine);
  if (unsupported) return err(unsupported);
  const torch = choosePyTorch(machine);
  const sizes = await downloadSizes(paths, `${machine.platform}-${machine.arch}`, torch);
  return ok({
    folder: paths.environmentFolder,
    downloadBytes: sizes.all,
    diskBytes: sizes.all === null ? null : Math.round(sizes.all * DISK_PER_BYTE + PYTHON_BYTES),
    pytorch: torch.reason,
  });
}

/** Bytes to download; null if not known in advance. */
export interface DownloadSizes {
  readonly packages: number | null;
  readonly torch: number | null;
  readonly all: number | null;
}

/** Written by `npm run node -- build/lockPython.ts` beside the lock file: bytes of the files for each platform. */
const fileSchema = z.record(z.string(), z.object({ packages: z.int(), torch: z.int() }));

/** The wheel of the processor build for Linux, which is on PyTorch's own index. */
const CPU_ON_LINUX = 192_000_000;

/**
 * `kind`: such as linux-x64. uv learns the size of builds on PyTorch's own index only when it queries that
 * index.
 */
export async function downloadSizes(
  { pythonBackend }: Pick<AppPaths, 'pythonBackend'>,
  kind: string,
  torch: Pick<TorchChoice, 'build' | 'isOrdinary'>,
): Promise<DownloadSizes> {
  const text = await readFile(join(pythonBackend, 'download-sizes.json'), 'utf8').catch(() => undefined);
  const known = parseJson(fileSchema, text)?.[kind];
  if (known === undefined) return { packages: null, torch: null, all: null };
  const ofTorch = torch.isOrdinary ? known.torch : torch.build === 'cpu' ? CPU_ON_LINUX : null;
  return {
    packages: known.packages,
    torch: ofTorch,
    all: ofTorch === null ? null : known.packages + ofTorch,
  };
}

/** The GPUs that a folder can be packed for on this computer, with the bytes to download; its own first. */
export async function packableGpus(
  paths: AppPaths,
  env: NodeJS.ProcessEnv = process.env,
): Promise<OfflineChoices['gpus']> {
  const machine = await lookAtMachine(runCommand, env);
  const platform = `${machine.platform}-${machine.arch}`;
  const own = gpuKindOf(choosePyTorch(machine).build);
  const gpus: OfflineChoices['gpus'] = [];
  for (const gpu of new Set([own, ...gpuKindSchema.options])) {
    const torch = pyTorchFor(platform, gpu);
    if (torch !== null) gpus.push({ gpu, downloadBytes: (await downloadSizes(paths, platform, torch)).all });
  }
  return gpus;
}
