import { processorOfShare } from '../../contract/cluster.ts';
import { workerEnvironment, type ChosenDevice } from '../devices/chosenDevice.ts';
import { pythonLaunch, type PythonEnvironment, type PythonLaunch } from '../environment/pythonLaunch.ts';
import type { ShareNode } from '../store/shares.ts';
import type { JsonObject } from '../store/types.ts';

/** A device that a run, or a share of one, computes on. */
export interface WorkDevice {
  readonly id: string;
  readonly name: string;
  readonly kind: ChosenDevice['kind'];
  /** The number from nvidia-smi; null for processors. */
  readonly index: number | null;
  readonly memoryTotalBytes: number | null;
  /** For a share: the computer, and the device's number there. */
  readonly place: { readonly node: string; readonly number: number } | null;
  /** Facts for the run's database and run.json. */
  readonly facts: JsonObject;
  readonly local: ChosenDevice;
}

/** `share`: set if this computer computes one of several shares of a run. */
export function localDevice(device: ChosenDevice, share: ShareNode | null = null): WorkDevice {
  const { name, kind } = device;
  const place = share === null ? null : { node: share.node, number: numberOf(device) };
  const onNode = place === null ? {} : { node: place.node, numberOnNode: place.number };
  // A GPU's id is unique.
  const id =
    share === null || kind === 'cuda' ? device.id : processorOfShare(device.id, share.node, share.share);
  if (device.kind !== 'cuda')
    return { id, name, kind, index: null, memoryTotalBytes: null, place, facts: onNode, local: device };
  const { index, memoryTotalBytes } = device;
  const capability = device.capability.join('.');
  return {
    id,
    name,
    kind,
    index,
    memoryTotalBytes,
    place,
    facts: { ...onNode, index, capability, memoryTotalBytes },
    local: device,
  };
}

/** The process that computes on a device of this computer. */
export const workerLaunch = (environment: PythonEnvironment, device: ChosenDevice): PythonLaunch =>
  pythonLaunch(environment, 'virnucpro_backend.worker', [], workerEnvironment(device));

function numberOf(device: ChosenDevice): number {
  return device.kind === 'cuda' ? device.index : Number(/\d+$/.exec(device.id)?.[0] ?? 0);
}
