/** The kinds of computers that a folder can be packed for. */
import { gpuKindSchema, offlinePlatformSchema, type OfflineChoices } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { choosePyTorch, gpuKindOf, pyTorchFor } from '../environment/install/choosePyTorch.ts';
import { downloadSizes } from '../environment/install/setUpPlan.ts';
import { knownKind } from '../environment/install/uv.ts';
import { lookAtMachine } from '../environment/machine/machine.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';

/** What this computer is, as a computer that a folder can be packed for. */
export async function ownKind(
  env: NodeJS.ProcessEnv = process.env,
  run: CommandRunner = runCommand,
): Promise<Pick<OfflineChoices, 'platform' | 'gpu'>> {
  const machine = await lookAtMachine(run, env);
  return {
    platform: knownKind(`${machine.platform}-${machine.arch}`),
    gpu: gpuKindOf(choosePyTorch(machine).build),
  };
}

/** Every kind of computer that a folder can be packed for, with the bytes to fetch for it. */
export async function packableKinds(paths: AppPaths): Promise<OfflineChoices['kinds']> {
  const kinds: OfflineChoices['kinds'] = [];
  for (const platform of offlinePlatformSchema.options) {
    for (const gpu of gpuKindSchema.options) {
      const torch = pyTorchFor(platform, gpu);
      if (torch !== null)
        kinds.push({ platform, gpu, downloadBytes: (await downloadSizes(paths, platform, torch)).all });
    }
  }
  return kinds;
}
