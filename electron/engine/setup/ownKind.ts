import type { GpuKind, OfflinePlatform } from '../../contract/rpc/computer.ts';
import { choosePyTorch, gpuKindOf } from '../environment/install/choosePyTorch.ts';
import { lookAtMachine } from '../environment/machine/machine.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { ownPlatform } from './targets.ts';

/** What this computer is, as a computer that a folder can be packed for. */
export async function ownKind(
  env: NodeJS.ProcessEnv = process.env,
  run: CommandRunner = runCommand,
): Promise<{ platform: OfflinePlatform | null; gpu: GpuKind }> {
  const machine = await lookAtMachine(run, env);
  return { platform: ownPlatform(machine), gpu: gpuKindOf(choosePyTorch(machine).build) };
}
