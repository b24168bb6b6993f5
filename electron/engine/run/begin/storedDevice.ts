import type { AppError } from '../../../contract/errors.ts';
import type { WorkerReady } from '../../../contract/protocol/index.ts';
import type { RunDevice } from '../../store/types.ts';
import type { WorkDevice } from '../work/workDevice.ts';

/** How a worker has loaded the model: where its parts are, and what computes them. */
export type MemoryUse = Pick<
  WorkerReady,
  'placement' | 'tokens_per_batch' | 'memory_free_bytes' | 'attention' | 'load_seconds' | 'memory_bytes'
>;

/** What a run learns about a device. */
export interface DeviceFindings {
  /** Known once its worker is ready. */
  memory?: MemoryUse;
  switchedOff?: AppError | null;
}

/** A device in the form of the run's database and of run.json. */
export function storedDevice(
  { id, name, kind, facts }: WorkDevice,
  { memory, switchedOff = null }: DeviceFindings = {},
): RunDevice {
  const use = memory && {
    placement: memory.placement,
    tokensPerBatch: memory.tokens_per_batch,
    attention: memory.attention,
    loadSeconds: memory.load_seconds,
    memoryLoadedBytes: memory.memory_bytes,
    ...(memory.memory_free_bytes === null ? {} : { memoryFreeBytes: memory.memory_free_bytes }),
  };
  return { id, name, kind, facts: { ...facts, ...use }, switchedOff };
}
