import { causeOf, nextStepOf, type AppError } from '../../../../contract/errors.ts';
import { deviceNamed, message as sentence } from '../../../../contract/messages.ts';
import type { Decision } from './decision.ts';
import { giveBackHeld, haltIfNoneLeft, startWorker } from './devices.ts';
import { newDevice, type DeviceWork } from './workState.ts';

/** A cluster has brought a device, perhaps one that was here before. */
export function deviceJoined(decision: Decision, id: string, name: string): void {
  const { state } = decision;
  const before = state.devices.get(id);
  if (before?.present) return;
  const device = newDevice({ id, name });
  state.devices.set(id, device);
  if (before) {
    device.included = before.included;
    device.condemned = before.condemned;
  }
  if (state.ended) return;
  decision.note('info', 'device_joined', sentence('note.joined', { device: deviceNamed(device) }));
  if (device.condemned) decision.show(device, { state: 'switched_off', error: device.condemned });
  else if (device.included) startWorker(decision, device);
  else decision.show(device, { state: 'excluded' });
}

export function deviceLeft(decision: Decision, device: DeviceWork, reason: string): void {
  if (!device.present) return;
  giveBackHeld(decision, device);
  device.present = false;
  device.stopping = false;
  decision.do({ type: 'forget_worker', device: device.id });
  decision.show(device, { state: 'left', reason });
  if (decision.state.ended) return;
  decision.note('info', 'device_left', sentence('note.left', { device: deviceNamed(device), reason }));
  haltIfAllAreOff(decision);
}

export function poolReady(decision: Decision, scheduler: string): void {
  const { pool } = decision.state;
  if (pool) pool.open = true;
  decision.note('info', 'pool_ready', sentence('note.pool_ready', { scheduler }));
}

export function poolWaits(decision: Decision, waiting: number): void {
  const { pool } = decision.state;
  if (!pool) return;
  pool.waiting = waiting;
  haltIfAllAreOff(decision);
}

export function poolDied(decision: Decision, error: AppError, restartAttempt: number | null): void {
  const { pool } = decision.state;
  if (!pool) return;
  pool.open = false;
  pool.waiting = 0;
  if (restartAttempt === null) decision.halt(error);
  else decision.note('warning', error.code, causeOf(error), error.detail);
}

/** No more devices are expected, and none of those present is computing. */
function haltIfAllAreOff(decision: Decision): void {
  const present = [...decision.state.devices.values()].filter((device) => device.present);
  const off = present.map(({ worker }) => worker).find(({ state }) => state === 'switched_off');
  if (off?.state === 'switched_off')
    haltIfNoneLeft(decision, causeOf(off.error), nextStepOf(off.error), off.error.detail);
  else if (present.length > 0)
    haltIfNoneLeft(decision, sentence('halt.all_excluded'), sentence('halt.all_excluded.next'));
}
