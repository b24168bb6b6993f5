import type { ChosenDevice } from '../devices/index.ts';
import type { RunDevice } from '../store/types.ts';

/** A device as it is noted in the run's database and in run.json. */
export function storedDevice(device: ChosenDevice): RunDevice {
  const { id, name, kind } = device;
  const facts =
    kind === 'cuda'
      ? {
          index: device.index,
          capability: device.capability.join('.'),
          memoryTotalBytes: device.memoryTotalBytes,
        }
      : {};
  return { id, name, kind, facts, switchedOff: null };
}
