import type { Decision } from './decision.ts';
import { notBegun, PARTS_IN_FLIGHT, type DeviceWork } from './workState.ts';

/** Assigns waiting parts to free workers, one each before anyone gets a second. Ends the session when none are left. */
export function handOut(decision: Decision): void {
  const { state } = decision;
  if (state.ended) return;
  const devices = [...state.devices.values()];
  if (!state.draining) {
    for (const free of [PARTS_IN_FLIGHT, 1])
      for (const device of devices) if (freeSlots(device) >= free) assignNext(decision, device);
    recallForIdleWorkers(decision, devices);
  }
  if (state.queue.assignedCount > 0 || state.unanswered > 0) return;
  if (state.supply === 'finished' && state.queue.waitingCount === 0) decision.end({ type: 'settled' });
  else if (state.draining) decision.end({ type: 'drained' });
  else if (state.supply === 'finished') prepared(decision);
}

/** All parts that wait are there, and no device of this computer computes them. */
function prepared(decision: Decision): void {
  const { state } = decision;
  if (state.computedBy === 'nothing') decision.end({ type: 'prepared' });
  if (state.computedBy !== 'shares' || state.sharesStarted) return;
  state.sharesStarted = true;
  decision.do({ type: 'start_shares' });
}

/** Current parts are finished; parts that no worker has begun return to the queue. */
export function drain(decision: Decision): void {
  const { state } = decision;
  state.draining = true;
  for (const device of state.devices.values())
    for (const key of notBegun(device)) recall(decision, device, key);
}

function assignNext(decision: Decision, device: DeviceWork): void {
  const { queue, parts } = decision.state;
  const queued = queue.take(device.id);
  const part = queued && parts.get(queued.key);
  if (!part) return;
  device.held.push(part.key);
  decision.do({ type: 'assign', device: device.id, part });
  decision.showWork(device);
}

/** Towards the end, a worker without work gets a part that another one holds but has not begun. */
function recallForIdleWorkers(decision: Decision, devices: readonly DeviceWork[]): void {
  const { state } = decision;
  if (state.queue.waitingCount > 0 || state.supply !== 'finished') return;
  let wanted = devices.filter((device) => freeSlots(device) === PARTS_IN_FLIGHT).length - state.recalled.size;
  for (const device of devices) {
    for (const key of notBegun(device)) {
      if (wanted <= 0 || state.recalled.has(key)) continue;
      recall(decision, device, key);
      wanted -= 1;
    }
  }
}

function recall(decision: Decision, device: DeviceWork, key: string): void {
  if (decision.state.recalled.has(key)) return;
  decision.state.recalled.add(key);
  decision.do({ type: 'recall', device: device.id, key });
}

function freeSlots({ worker, stopping, held }: DeviceWork): number {
  const ready = worker.state === 'idle' || worker.state === 'working';
  return ready && !stopping ? PARTS_IN_FLIGHT - held.length : 0;
}
