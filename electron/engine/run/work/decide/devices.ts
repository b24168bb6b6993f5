import {
  appError,
  causeOf,
  nextStepOf,
  usualNextStep,
  type AppError,
  type ErrorCode,
} from '../../../../contract/errors.ts';
import { deviceNamed, message as sentence, type Message } from '../../../../contract/messages.ts';
import type { PartDone } from '../../../../contract/protocol/index.ts';
import { type Decision, hasWorker, type DeviceWork } from './workState.ts';
import { attemptFailed, giveBack, tryAgainOrSplit } from './parts.ts';

/** Errors after which a worker's advice that it restarts by itself no longer holds. */
const RESTARTS_BY_ITSELF: ReadonlySet<ErrorCode> = new Set([
  'worker_died',
  'worker_silent',
  'worker_stalled',
  'protocol_garbage',
]);

/** How many scores in a row may differ from a worker's report before its device is switched off. */
const MOST_DAMAGED_IN_ROW = 3;

export function startDevices(decision: Decision): void {
  const { state } = decision;
  if (state.devicesStarted || state.computedBy !== 'devices') return;
  state.devicesStarted = true;
  decision.do({ type: 'start_monitor' });
  for (const device of state.devices.values())
    if (device.included && !hasWorker(device)) startWorker(decision, device);
}

export function startWorker(decision: Decision, device: DeviceWork): void {
  device.worker = { state: 'starting' };
  decision.do({ type: 'start_worker', device: device.id });
}

export function workerDied(
  decision: Decision,
  device: DeviceWork,
  error: AppError,
  restartAttempt: number | null,
): void {
  decision.note(
    'warning',
    error.code,
    sentence(restartAttempt === null ? 'note.worker_failed' : 'note.worker_restarts', {
      device: deviceNamed(device),
      cause: causeOf(error),
    }),
    error.detail,
  );
  const deathsBefore = decision.state.deaths++;
  // Reading, computing and writing overlap, so any of these parts may have been the cause.
  for (const key of device.held.slice()) {
    leave(decision, device, key);
    attemptFailed(decision, key, { code: 'internal_error', message: error.cause }, deathsBefore);
  }
  if (restartAttempt !== null) {
    decision.show(device, { state: 'restarting', attempt: restartAttempt, error });
    return;
  }
  switchedOff(decision, device, error);
  const nextStep = RESTARTS_BY_ITSELF.has(error.code) ? usualNextStep('no_usable_device') : nextStepOf(error);
  haltIfNoneLeft(decision, causeOf(error), nextStep, error.detail);
}

export function workerStopped(decision: Decision, device: DeviceWork): void {
  giveBackHeld(decision, device);
  device.stopping = false;
  // The reason for switching it off stays visible.
  if (device.condemned) return;
  decision.show(device, { state: 'stopped' });
  if (decision.state.ended) return;
  if (device.included) startWorker(decision, device);
  else excluded(decision, device);
}

/**
 * A worker's scores do not match its report. A disk, GPU or program that does this repeatedly loses its
 * device; a part with which it happens again and again is treated like one that kills workers.
 */
export function scoresDamaged(decision: Decision, key: string, detail: string): void {
  const device = decision.holder(key);
  decision.note('warning', 'scores_damaged', sentence('note.scores_damaged', { part: key }), detail);
  tryAgainOrSplit(decision, key, {
    code: 'internal_error',
    message: 'Its scores were damaged on disk every time.',
  });
  if (!device) return;
  device.damagedInRow += 1;
  if (device.damagedInRow >= MOST_DAMAGED_IN_ROW) switchOffForDamage(decision, device, detail);
}

function switchOffForDamage(decision: Decision, device: DeviceWork, detail: string): void {
  const cause = sentence('device.damaged', { times: device.damagedInRow });
  const error = appError('device_switched_off', cause, { detail });
  device.damagedInRow = 0;
  device.included = false;
  device.stopping = true;
  device.condemned = error;
  decision.do({ type: 'stop_worker', device: device.id });
  switchedOff(decision, device, error);
  haltIfNoneLeft(decision, cause, undefined, detail);
}

function switchedOff(decision: Decision, device: DeviceWork, error: AppError): void {
  decision.show(device, { state: 'switched_off', error });
  decision.do({ type: 'record_switched_off', device: device.id, error });
  decision.note(
    'error',
    'device_switched_off',
    sentence('note.switched_off', { device: deviceNamed(device), cause: causeOf(error) }),
  );
}

export function exclude(decision: Decision, device: DeviceWork): void {
  if (!device.included) return;
  device.included = false;
  if (hasWorker(device)) {
    device.stopping = true;
    decision.do({ type: 'stop_worker', device: device.id });
  } else if (!device.stopping) {
    excluded(decision, device);
  }
}

function excluded(decision: Decision, device: DeviceWork): void {
  decision.show(device, { state: 'excluded' });
  decision.note('info', 'device_excluded', sentence('note.excluded', { device: deviceNamed(device) }));
  haltIfNoneLeft(decision, sentence('halt.all_excluded'));
}

export function include(decision: Decision, device: DeviceWork): void {
  if (hasWorker(device) || decision.state.ended) return;
  device.included = true;
  device.condemned = null;
  decision.note('info', 'device_included', sentence('note.included', { device: deviceNamed(device) }));
  if (device.worker.state === 'switched_off')
    decision.do({ type: 'record_switched_off', device: device.id, error: null });
  // A worker that is still ending holds the device's memory.
  if (!device.stopping) startWorker(decision, device);
}

/** Takes the part from this device's worker. False if the worker did not have it. */
export function leave(decision: Decision, device: DeviceWork, key: string): boolean {
  const place = device.held.indexOf(key);
  if (place < 0) return false;
  device.held.splice(place, 1);
  if (place === 0) device.residuesDone = 0;
  decision.state.recalled.delete(key);
  decision.showWork(device);
  return true;
}

/**
 * The last part makes up half of the known pace, so that a device that throttles or is shared is soon
 * recognised as slow.
 */
export function followPace(device: DeviceWork, { residues, seconds }: PartDone): void {
  if (!(residues > 0 && seconds > 0)) return;
  const pace = residues / seconds;
  device.residuesPerSecond = device.residuesPerSecond === null ? pace : (device.residuesPerSecond + pace) / 2;
}

/** Its current parts return to the queue, without counting as failures. */
export function giveBackHeld(decision: Decision, device: DeviceWork): void {
  for (const key of device.held.slice()) {
    leave(decision, device, key);
    giveBack(decision, key, 'interrupted');
  }
}

export function haltIfNoneLeft(
  decision: Decision,
  cause: Message,
  nextStep?: string | Message,
  detail?: string,
): void {
  const { devices, devicesStarted } = decision.state;
  if ([...devices.values()].some((device) => hasWorker(device) || (!devicesStarted && device.included)))
    return;
  decision.halt(appError('no_usable_device', cause, { nextStep, detail }));
}
