import type { WorkerReady } from '../../../contract/protocol/index.ts';
import { isGpu, type ChosenDevice } from '../../devices/index.ts';
import type { RunDevice } from '../../store/types.ts';

/** How the model lies in a device's memory. */
export type MemoryUse = Pick<WorkerReady, 'placement' | 'tokens_per_batch' | 'memory_free_bytes'>;

/** A device as it is noted in the run's database and in run.json; once its worker is ready, with its use of memory. */
export function storedDevice(device: ChosenDevice, memory?: MemoryUse): RunDevice {
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
  return { id, name, kind, facts: { ...facts, ...use }, switchedOff: null };
}
