import { appError, type AppError } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { PoolChoice, Precision } from '../../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import { choosePrecision } from '../../devices/choosePrecision.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import type { DeviceChoice } from './chooseDevices.ts';

/** What the sizes of a plan's batches and parts go by. */
export function hardwareOf({
  devices,
  pool,
  plannedFor,
}: Pick<DeviceChoice, 'devices' | 'pool' | 'plannedFor'>): 'cpu' | 'gpu' {
  if (plannedFor !== null) return plannedFor;
  if (pool) return onProcessors(pool) ? 'cpu' : 'gpu';
  return devices.every(({ kind }) => kind === 'cpu') ? 'cpu' : 'gpu';
}

/** The precision of a run, which all its devices have to support. A cluster's are not known yet: one that cannot do it is switched off
 * when it joins, and says so. */
export function precisionOf(
  wanted: 'auto' | Precision,
  choice: Pick<DeviceChoice, 'devices' | 'pool' | 'plannedFor'>,
): Result<Precision> {
  if (choice.pool === null && choice.plannedFor === null) return choosePrecision(wanted, choice.devices);
  const usual = hardwareOf(choice) === 'cpu' ? 'fp32' : 'bf16';
  if (wanted === 'auto' || wanted === usual) return ok(usual);
  if (wanted === 'fp8' || usual === 'fp32') {
    const cause =
      wanted === 'fp8'
        ? 'FP8 has to be checked on the GPU that computes in it, which a cluster does not allow.'
        : `The processors of a cluster cannot compute in ${wanted}.`;
    return err(appError('precision_unsupported', cause, { nextStep: 'Choose another precision.' }));
  }
  return ok(wanted);
}

/** Why tasks that get GPUs could not use them: they run the Python environment of this computer, which, set up where there is no
 * GPU, has a PyTorch for processors. Nobody should queue for hours to hear it. Null where nothing speaks against it. */
export function withoutGpus(
  pool: PoolChoice,
  { packages }: Pick<PythonEnvironment, 'packages'>,
): AppError | null {
  if (pool.kind !== 'slurm' || pool.script === null || onProcessors(pool)) return null;
  if (!packages['torch']?.endsWith('+cpu') || pool.script.includes('VIRNUCPRO_PYTHON=')) return null;
  return appError('device_blocked', message('slurm.pytorch'), { nextStep: message('slurm.pytorch.next') });
}

function onProcessors(pool: PoolChoice): boolean {
  return pool.kind === 'ray' ? pool.cpu_workers_per_node > 0 : pool.on_processors;
}
