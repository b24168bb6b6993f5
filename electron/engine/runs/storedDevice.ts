import type { WorkerReady } from '../../contract/protocol/index.ts';
import type { ChosenDevice } from '../devices/index.ts';
import type { RunDevice } from '../store/types.ts';

/** A device as it is noted in the run's database and in run.json; once its worker is ready, with how the model lies there. */
export function storedDevice(device: ChosenDevice, ready?: WorkerReady): RunDevice {
  const { id, name, kind } = device;
  const facts =
    kind === 'cuda'
      ? {
          index: device.index,
          capability: device.capability.join('.'),
          memoryTotalBytes: device.memoryTotalBytes,
        }
      : {};
  const use = ready && {
    placement: ready.placement,
    tokensPerBatch: ready.tokens_per_batch,
    ...(ready.memory_free_bytes === null ? {} : { memoryFreeBytes: ready.memory_free_bytes }),
  };
  return { id, name, kind, facts: { ...facts, ...use }, switchedOff: null };
}
