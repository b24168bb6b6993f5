import { type Decision, notBegun, PARTS_IN_FLIGHT, type DeviceWork, type WorkState } from './workState.ts';

/**
 * Assigns waiting parts to free workers, one each before any worker gets a second. Ends the session when none
 * are left.
 */
export function handOut(decision: Decision): void {
  const { state } = decision;
  if (state.ended) return;
  const devices = [...state.devices.values()];
  if (!state.draining) {
    for (const free of [PARTS_IN_FLIGHT, 1])
      for (const device of devices)
        if (freeSlots(device) >= free && !othersAreSooner(state, device)) assignNext(decision, device);
    recallForIdleWorkers(decision, devices);
  }
  if (state.queue.assignedCount > 0 || state.unanswered > 0) return;
  if (state.supply === 'finished' && state.queue.waitingCount === 0) decision.end({ type: 'settled' });
  else if (state.draining) decision.end({ type: 'drained' });
  else if (state.supply === 'finished') prepared(decision);
}

/** All waiting parts are ready, but no device of this computer computes them. */
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
  const queued = queue.take(device.id, device.isProcessor && decision.state.supply !== 'finished');
  const part = queued && parts.get(queued.key);
  if (!part) return;
  device.held.push(part.key);
  decision.do({ type: 'assign', device: device.id, part });
  decision.showWork(device);
}

/**
 * Towards the end, an idle worker gets a part that another one holds but has not begun, if it would finish it
 * sooner.
 */
function recallForIdleWorkers(decision: Decision, devices: readonly DeviceWork[]): void {
  const { state } = decision;
  const { queue } = state;
  if ((queue.waitingCount > 0 && !queue.nextWaitsForAll) || state.supply !== 'finished') return;
  const idle = devices
    .filter((device) => freeSlots(device) === PARTS_IN_FLIGHT)
    .sort((a, b) => (b.residuesPerSecond ?? 0) - (a.residuesPerSecond ?? 0))
    .slice(state.recalled.size);
  const lastToEnd = devices.toSorted((a, b) => (timeLeft(state, b) ?? 0) - (timeLeft(state, a) ?? 0));
  for (const holder of lastToEnd) {
    for (const key of notBegun(holder)) {
      const [taker] = idle;
      if (!taker) return;
      if (state.recalled.has(key)) continue;
      const there = timeLeft(state, holder);
      const here = timeLeft(state, taker, state.parts.get(key)?.residues);
      if (there !== null && here !== null && here >= there) continue;
      recall(decision, holder, key);
      idle.shift();
    }
  }
}

/**
 * Decides, towards the end, whether the other workers, with each part going to the one that would finish it
 * first, would have computed all waiting parts before this one had computed its next part. The part then
 * waits for one of them; if that one leaves, the decision is made again.
 */
function othersAreSooner(state: WorkState, device: DeviceWork): boolean {
  if (state.supply !== 'finished') return false;
  const others: { perSecond: number; end: number }[] = [];
  for (const other of state.devices.values()) {
    const end = timeLeft(state, other);
    if (other !== device && isReady(other) && end !== null)
      others.push({ perSecond: other.residuesPerSecond ?? 0, end });
  }
  let own: number | undefined;
  for (const residues of state.queue.waitingResidues()) {
    own ??= timeLeft(state, device, residues) ?? 0;
    let soonest = { perSecond: 0, end: Infinity };
    let at = Infinity;
    for (const other of others) {
      const end = other.end + residues / other.perSecond;
      if (end < at) [soonest, at] = [other, end];
    }
    if (at >= own) return false;
    soonest.end = at;
  }
  return own !== undefined;
}

/**
 * Seconds until it has computed what it holds, and this many further residues; null before its first part.
 */
function timeLeft(state: WorkState, device: DeviceWork, more = 0): number | null {
  if (device.residuesPerSecond === null) return null;
  const held = device.held.reduce((sum, key) => sum + (state.parts.get(key)?.residues ?? 0), 0);
  return Math.max(0, held - device.residuesDone + more) / device.residuesPerSecond;
}

function recall(decision: Decision, device: DeviceWork, key: string): void {
  if (decision.state.recalled.has(key)) return;
  decision.state.recalled.add(key);
  decision.do({ type: 'recall', device: device.id, key });
}

function freeSlots(device: DeviceWork): number {
  return isReady(device) ? PARTS_IN_FLIGHT - device.held.length : 0;
}

function isReady({ worker, stopping }: DeviceWork): boolean {
  return !stopping && (worker.state === 'idle' || worker.state === 'working');
}
