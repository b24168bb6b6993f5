import {
  gpuKindSchema,
  offlinePlatformSchema,
  type GpuKind,
  type OfflinePlatform,
} from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { choosePyTorch, gpuKindOf, pyTorchFor } from '../environment/install/choosePyTorch.ts';
import { downloadSizes } from '../environment/install/downloadSizes.ts';
import { lookAtMachine } from '../environment/machine/machine.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { ownPlatform, TARGETS } from './targets.ts';

/** What this computer is, as a computer that a folder can be packed for. */
export async function ownKind(
  env: NodeJS.ProcessEnv = process.env,
  run: CommandRunner = runCommand,
): Promise<{ platform: OfflinePlatform | null; gpu: GpuKind }> {
  const machine = await lookAtMachine(run, env);
  return {
    platform: ownPlatform(`${machine.platform}-${machine.arch}`),
    gpu: gpuKindOf(choosePyTorch(machine).build),
  };
}

interface PackableKind {
  platform: OfflinePlatform;
  gpu: GpuKind;
  /** Packages and PyTorch; null where that isn't known ahead. */
  downloadBytes: number | null;
}

/** Every kind of computer that a folder can be packed for. */
export async function packableKinds(paths: AppPaths): Promise<PackableKind[]> {
  const kinds: PackableKind[] = [];
  for (const platform of offlinePlatformSchema.options) {
    for (const gpu of gpuKindSchema.options) {
      const torch = pyTorchFor(platform, gpu);
      if (torch === null) continue;
      const sizes = await downloadSizes(paths, TARGETS[platform], torch);
      const { packages, torch: build } = sizes;
      const downloadBytes = packages === null || build === null ? null : packages + build;
      kinds.push({ platform, gpu, downloadBytes });
    }
  }
  return kinds;
}
