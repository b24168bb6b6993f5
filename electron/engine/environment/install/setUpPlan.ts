/** What a set-up would fetch, and where it would go: said before it begins. */
import { ok, err, type Result } from '../../../contract/result.ts';
import type { SetUpPlan } from '../../../contract/rpc/computer.ts';
import { lookAtMachine, type Machine } from '../machine/machine.ts';
import { unsupportedMachine } from '../machine/unsupportedMachine.ts';
import type { AppPaths } from '../appPaths.ts';
import { runCommand } from '../runCommand.ts';
import { choosePyTorch } from './choosePyTorch.ts';
import { downloadSizes } from './downloadSizes.ts';

/** Wheels are compressed: the environments for CUDA 13 and for processors, measured on Linux, take this much of the disk for each
 * byte fetched, and Python itself. */
const DISK_PER_BYTE = 2.8;
const PYTHON_BYTES = 400_000_000;

/** All but the room that there is. An error where this computer can't compute at all. */
export async function planSetUp(
  paths: AppPaths,
  env: NodeJS.ProcessEnv,
  machine?: Machine,
): Promise<Result<Omit<SetUpPlan, 'diskFreeBytes'>>> {
  const found = machine ?? (await lookAtMachine(runCommand, env));
  const unsupported = unsupportedMachine(found);
  if (unsupported) return err(unsupported);
  const torch = choosePyTorch(found);
  const sizes = await downloadSizes(paths, found, torch);
  const downloadBytes = sizes.packages === null || sizes.torch === null ? null : sizes.packages + sizes.torch;
  return ok({
    folder: paths.environmentFolder,
    downloadBytes,
    diskBytes: downloadBytes === null ? null : Math.round(downloadBytes * DISK_PER_BYTE + PYTHON_BYTES),
    pytorch: torch.reason,
  });
}
