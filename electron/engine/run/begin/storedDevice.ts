import type { AppError } from '../../../contract/errors.ts';
import type { WorkerReady } from '../../../contract/protocol/index.ts';
import { isGpu, type ChosenDevice } from '../../devices/chosenDevice.ts';
import type { RunDevice } from '../../store/types.ts';

/** How the model lies in a device's memory. */
export type MemoryUse = Pick<WorkerReady, 'placement' | 'tokens_per_batch' | 'memory_free_bytes'>;

/** What a run finds out about a device. */
export interface DeviceFindings {
  /** Once its worker is ready. */
  memory?: MemoryUse;
  switchedOff?: AppError | null;
}

/** A device as it is noted in the run's database and in run.json. */
export function storedDevice(
  device: ChosenDevice,
  { memory, switchedOff = null }: DeviceFindings = {},
): RunDevice {
  const { id, name, kind } = device;
  const facts = isGpu(device)
    ? {
        index: device.index,
        ...(device.kind === 'cuda'
          ? { capability: device.capability.join('.') }
          : { gfxTarget: device.gfxTarget }),
        memoryTotalBytes: device.memoryTotalBytes,
      }
    : {};
  const use = memory && {
    placement: memory.placement,
    tokensPerBatch: memory.tokens_per_batch,
    ...(memory.memory_free_bytes === null ? {} : { memoryFreeBytes: memory.memory_free_bytes }),
  };
  return { id, name, kind, facts: { ...facts, ...use }, switchedOff };
}
