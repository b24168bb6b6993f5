import { isGpu, type ChosenDevice } from '../../devices/chosenDevice.ts';
import type { JsonObject } from '../../store/types.ts';
import type { PoolDevice } from '../../workers/launchers/workerPool.ts';

/** A device that a run computes on: one of this computer, or one that a cluster lends. */
export interface WorkDevice {
  readonly id: string;
  readonly name: string;
  readonly kind: ChosenDevice['kind'];
  /** nvidia-smi's number or ROCm's; of a cluster's GPU, its number on its node. Null for processors. */
  readonly index: number | null;
  readonly memoryTotalBytes: number | null;
  /** Null on this computer. */
  readonly place: { readonly node: string; readonly number: number } | null;
  /** For the run's database and run.json. */
  readonly facts: JsonObject;
  /** Null for a cluster's. */
  readonly local: ChosenDevice | null;
}

export function localDevice(device: ChosenDevice): WorkDevice {
  const { id, name, kind } = device;
  if (!isGpu(device))
    return { id, name, kind, index: null, memoryTotalBytes: null, place: null, facts: {}, local: device };
  const { index, memoryTotalBytes } = device;
  const architecture =
    device.kind === 'cuda' ? { capability: device.capability.join('.') } : { gfxTarget: device.gfxTarget };
  return {
    id,
    name,
    kind,
    index,
    memoryTotalBytes,
    place: null,
    facts: { index, ...architecture, memoryTotalBytes },
    local: device,
  };
}

export function clusterDevice({ device, name, kind, node, number, ...more }: PoolDevice): WorkDevice {
  const index = kind === 'cpu' ? null : number;
  const memoryTotalBytes = kind === 'cpu' ? null : more.memory_total_bytes;
  return {
    id: device,
    name,
    kind,
    index,
    memoryTotalBytes,
    place: { node, number },
    facts: {
      node,
      numberOnNode: number,
      ...(kind === 'cpu' ? {} : { index: number, memoryTotalBytes: more.memory_total_bytes }),
    },
    local: null,
  };
}
