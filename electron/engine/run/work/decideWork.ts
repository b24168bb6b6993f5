import { appError, causeOf, nextStepOf, type AppError, type ErrorCode } from '../../../contract/errors.ts';
import { deviceNamed, message as sentence, type Message } from '../../../contract/messages.ts';
import type { PartFailed, PartFailureCode } from '../../../contract/protocol/index.ts';
import type { WorkerState } from '../../../contract/rpc/runs.ts';
import type { StoredPart } from '../../store/types.ts';
import { decideAfterFailedAttempt } from './failedAttemptPolicy.ts';
import { PartQueue } from './partQueue.ts';
import type { PartFailure, StoreAnswer, StoreEffect, WorkEffect, WorkEvent } from './workEvents.ts';

/** A worker has one part to compute and one to read meanwhile. */
export const PARTS_IN_FLIGHT = 2;

interface DeviceWork {
  readonly id: string;
  readonly name: string;
  /** False after a cluster has taken it back. */
  present: boolean;
  worker: WorkerState;
  /** Parts that its worker has, in the order assigned: it computes the first. */
  readonly held: string[];
  /** The user wants it to take part. */
  included: boolean;
  /** Its worker has been asked to end. */
  stopping: boolean;
  /** Why it was switched off while its worker could still answer. */
  condemned: AppError | null;
  /** Scores that did not fit what its worker reported, one after the other. */
  damagedInRow: number;
}

/** The state of one session of work. It is changed in place: a run can have a hundred thousand parts. */
export interface WorkState {
  readonly queue: PartQueue;
  readonly parts: Map<string, StoredPart>;
  readonly devices: Map<string, DeviceWork>;
  /** Where the parts come from. `finished`: every part there will be has been offered. */
  supply: 'not_started' | 'invalidating' | 'preparing' | 'finished';
  /** Parts, as prepare numbers them, whose files must be written again before they can be computed. */
  readonly awaited: Set<string>;
  /** What is stored is still being compared with its digests. */
  checking: boolean;
  /** Monitor and workers have been started. */
  devicesStarted: boolean;
  /** How often the work file of a part was lost, in this session. */
  readonly losses: Map<string, number>;
  /** Parts asked back from a worker that had not begun them. */
  readonly recalled: Set<string>;
  /** Effects that the store has not answered yet. */
  unanswered: number;
  draining: boolean;
  /** Nothing is handed out any more. */
  ended: boolean;
  /** Where a cluster brings the devices: whether it has answered, and how many more it has announced. */
  readonly pool: { open: boolean; waiting: number } | null;
}

/** With the devices of this computer, or with those that a cluster will bring. */
export function newWorkState(
  devices: readonly { id: string; name: string }[],
  { pool = false }: { pool?: boolean } = {},
): WorkState {
  return {
    queue: new PartQueue(),
    parts: new Map(),
    devices: new Map(devices.map((device) => [device.id, newDevice(device)])),
    supply: 'not_started',
    awaited: new Set(),
    checking: false,
    devicesStarted: false,
    losses: new Map(),
    recalled: new Set(),
    unanswered: 0,
    draining: false,
    ended: false,
    pool: pool ? { open: false, waiting: 0 } : null,
  };
}

function newDevice({ id, name }: { id: string; name: string }): DeviceWork {
  return {
    id,
    name,
    present: true,
    worker: { state: 'stopped' },
    held: [],
    included: true,
    stopping: false,
    condemned: null,
    damagedInRow: 0,
  };
}

/** Deaths after which the advice of the single worker, that it starts again by itself, no longer holds. */
const RESTARTS_BY_ITSELF: ReadonlySet<ErrorCode> = new Set([
  'worker_died',
  'worker_silent',
  'worker_stalled',
  'protocol_garbage',
]);

/** What is heard of a worker means nothing any more once its device has left. */
const OF_WORKER: ReadonlySet<WorkEvent['type']> = new Set([
  'worker_starting',
  'worker_loading',
  'worker_ready',
  'worker_note',
  'worker_died',
  'worker_stopped',
  'part_progress',
  'part_done',
  'part_failed',
  'out_of_memory',
  'heartbeat',
  'held_up',
]);

/** Scores in a row that are not what a worker reported, after which its device computes no more. */
const MOST_DAMAGED_IN_ROW = 3;
/** How often the work file of a part is made again in one session. */
const MOST_LOSSES = 3;

/** Failures of the computer rather than of the part that met them. */
const HALTING: Partial<Record<PartFailureCode, 'disk_full' | 'folder_unwritable'>> = {
  disk_full: 'disk_full',
  write_failed: 'folder_unwritable',
};

/**
 * Decides all that happens in a session of work: brings the state up to date with the event and answers with what is to be
 * done. It reads no clock and does nothing itself; the same events always give the same effects.
 */
export function decideWork(state: WorkState, event: WorkEvent): WorkEffect[] {
  const decision = new Decision(state);
  decision.take(event);
  return decision.effects;
}

class Decision {
  readonly effects: WorkEffect[] = [];
  private readonly state: WorkState;

  constructor(state: WorkState) {
    this.state = state;
  }

  take(event: WorkEvent): void {
    const { state } = this;
    if (OF_WORKER.has(event.type) && 'device' in event && !this.device(event.device).present) return;
    switch (event.type) {
      case 'started':
        this.start(event);
        break;
      case 'checked':
        this.checked(event);
        break;
      case 'check_failed':
        this.halt(event.error);
        break;
      case 'stop':
        state.ended = true;
        break;

      // Workers
      case 'worker_starting':
        this.show(event.device, { state: 'starting' });
        break;
      case 'worker_loading':
        this.show(event.device, { state: 'loading' });
        break;
      case 'worker_ready':
        this.showWork(this.device(event.device));
        break;
      case 'part_done':
        if (this.leave(event.device, event.done.part)) this.ask({ type: 'store_scores', done: event.done });
        break;
      case 'part_failed': {
        const wasRecalled = state.recalled.has(event.failed.part);
        if (this.leave(event.device, event.failed.part)) this.partFailed(event.failed, wasRecalled);
        break;
      }
      case 'worker_died':
        this.workerDied(event.device, event.error, event.restartAttempt);
        break;
      case 'worker_stopped':
        this.workerStopped(this.device(event.device));
        break;
      case 'worker_note':
        this.note(
          event.level,
          'worker_note',
          sentence('note.worker', { device: deviceNamed(this.device(event.device)), text: event.message }),
        );
        break;
      case 'out_of_memory':
        this.note(
          'warning',
          'smaller_batches',
          sentence('note.smaller_batches', {
            device: deviceNamed(this.device(event.device)),
            after: event.oom.tokens_per_batch_after,
            before: event.oom.tokens_per_batch_before,
          }),
        );
        break;
      case 'part_progress':
      case 'heartbeat':
      case 'held_up':
      case 'prepare_progress':
        return; // Only measured and shown.

      // A cluster's pool
      case 'device_joined':
        this.join(event.device, event.name);
        break;
      case 'device_left':
        this.deviceLeft(this.device(event.device), event.reason);
        break;
      case 'pool_waiting':
        this.poolWaits(event.waiting);
        break;
      case 'pool_ready':
        if (state.pool) state.pool.open = true;
        this.note('info', 'pool_ready', sentence('note.pool_ready', { scheduler: event.version }));
        break;
      case 'pool_note':
        this.note(event.level, 'pool_note', sentence('note.pool', { text: event.message }));
        break;
      case 'pool_died':
        this.poolDied(event.error, event.restartAttempt);
        break;
      case 'pool_starting':
      case 'device_measured':
        return;

      // Prepare
      case 'part_prepared':
        this.partPrepared(event.key, event.registered);
        break;
      case 'prepared':
        if (state.awaited.size > 0) this.startPrepare();
        else state.supply = 'finished';
        break;
      case 'input_left_out':
        this.startPrepare();
        break;
      case 'prepare_failed':
        this.halt(event.error);
        break;

      // The user
      case 'drain':
        state.draining = true;
        for (const device of state.devices.values())
          for (const key of notBegun(device)) this.recall(device, key);
        break;
      case 'exclude_device':
        this.exclude(this.device(event.device));
        break;
      case 'include_device':
        this.include(this.device(event.device));
        break;
      case 'halve_batches':
        this.halveBatches();
        break;
      case 'parts_offered':
        for (const part of event.parts) this.offer(part);
        break;
      case 'part_withdrawn':
        state.queue.withdraw(event.key);
        break;

      default:
        state.unanswered -= 1;
        this.takeAnswer(event);
    }
    this.handOut();
  }

  private takeAnswer(answer: StoreAnswer): void {
    const { queue } = this.state;
    switch (answer.type) {
      case 'attempt_ended':
        if (answer.outcome === 'damaged') this.lose(answer.key, answer.failure?.message ?? '');
        break;
      case 'scores_stored':
        switch (answer.intake.outcome) {
          case 'scores_damaged':
            this.scoresDamaged(answer.key, answer.intake.message);
            break;
          case 'taken': {
            const device = this.state.devices.get(queue.holder(answer.key) ?? '');
            if (device) device.damagedInRow = 0;
            this.settle(answer.key);
            break;
          }
          case 'part_damaged':
            this.lose(answer.key, answer.intake.message);
            break;
          default:
            this.settle(answer.key);
        }
        break;
      case 'part_split':
        this.partSplit(answer);
        break;
      case 'part_given_up':
        if (answer.failing.outcome === 'part_damaged') {
          this.lose(answer.key, answer.failing.message);
        } else {
          this.note(
            'error',
            'part_failed',
            sentence('note.part_failed', { part: answer.key, text: answer.failure.message }),
          );
          this.settle(answer.key);
        }
        break;
      case 'part_read':
        for (const part of answer.parts) this.offer(part);
        break;
      case 'prepare_invalidated':
        this.startPrepare();
        break;
      case 'store_failed':
        this.halt(answer.error);
        break;
    }
  }

  private start({ parts, damaged, prepared, checking }: Extract<WorkEvent, { type: 'started' }>): void {
    const { state } = this;
    if (state.ended) return;
    state.checking = checking ?? false;
    const unusable = new Set(damaged);
    for (const key of unusable) state.awaited.add(preparedKey(key));
    const complete = prepared && unusable.size === 0;
    if (parts.length > 0 || !complete) this.startDevices();
    for (const part of parts) if (!unusable.has(part.key)) this.offer(part);
    if (complete) state.supply = 'finished';
    else this.startPrepare();
  }

  private startDevices(): void {
    const { state } = this;
    if (state.devicesStarted) return;
    state.devicesStarted = true;
    this.effects.push({ type: 'start_monitor' });
    if (state.pool) this.effects.push({ type: 'start_pool' });
    for (const device of state.devices.values())
      if (device.included && !hasWorker(device)) this.startWorker(device);
  }

  /** What was damaged is computed again, or read again; what is in work already is found out by its worker. */
  private checked({ parts, lost, readAgain }: Extract<WorkEvent, { type: 'checked' }>): void {
    const { state } = this;
    const { queue, awaited } = state;
    state.checking = false;
    if (state.ended) return;
    if (readAgain && state.supply !== 'finished') {
      // Prepare has read on top of what was damaged.
      const nextStep = sentence('halt.records_damaged.next');
      this.halt(appError('run_damaged', sentence('halt.records_damaged'), { nextStep }));
      return;
    }
    const unusable = new Set(lost);
    for (const key of unusable) {
      if (queue.holder(key) !== undefined) continue;
      queue.withdraw(key);
      awaited.add(preparedKey(key));
    }
    for (const part of parts) if (!unusable.has(part.key)) this.offer(part);
    const mustRead = readAgain || awaited.size > 0;
    if (queue.waitingCount > 0 || mustRead) this.startDevices();
    if (!mustRead || state.supply !== 'finished') return;
    state.supply = 'invalidating';
    this.ask({ type: 'invalidate_prepare' });
  }

  // ---- Parts ----

  /** A part can be computed. */
  private offer(part: StoredPart): void {
    const { queue, parts } = this.state;
    if (queue.has(part.key)) return;
    parts.set(part.key, part);
    const failedAttempts = part.bisected || part.attempts > 0 ? 1 : 0;
    queue.add({ key: part.key, residues: part.residues, failedAttempts });
  }

  private settle(key: string): void {
    this.state.queue.settle(key);
    this.state.parts.delete(key);
  }

  private partFailed(failed: PartFailed, wasRecalled: boolean): void {
    const { part, code, message, detail } = failed;
    const halting = HALTING[code];
    if (code === 'recalled' && wasRecalled) {
      this.giveBack(part, 'recalled');
    } else if (halting) {
      this.giveBack(part, 'interrupted');
      this.halt(appError(halting, message, { detail }));
    } else if (code === 'part_unreadable' && this.lossesOf(part) < MOST_LOSSES) {
      this.ask({ type: 'end_attempt', key: part, outcome: 'damaged', failure: { code, message } });
    } else {
      this.attemptFailed(part, { code, message });
    }
  }

  /** What a worker left is not what it reported. A disk, a card or a program that does so time after time costs the device; a part
   * with which it happens twice is treated as one that costs a worker its life. */
  private scoresDamaged(key: string, detail: string): void {
    const { queue, devices } = this.state;
    const device = devices.get(queue.holder(key) ?? '');
    this.note('warning', 'scores_damaged', sentence('note.scores_damaged', { part: key }), detail);
    if (decideAfterFailedAttempt(queue.casualtiesOf(key)) === 'try_again') queue.giveBack(key, 1);
    else
      this.ask({
        type: 'split_part',
        key,
        failure: { code: 'internal_error', message: 'Its scores were damaged on disk twice.' },
      });
    if (!device) return;
    device.damagedInRow += 1;
    if (device.damagedInRow >= MOST_DAMAGED_IN_ROW) this.switchOffForDamage(device, detail);
  }

  private switchOffForDamage(device: DeviceWork, detail: string): void {
    const cause = sentence('device.damaged', { times: device.damagedInRow });
    const nextStep = sentence('device.damaged.next');
    const error = appError('device_switched_off', cause, { nextStep, detail });
    device.damagedInRow = 0;
    device.included = false;
    device.stopping = true;
    device.condemned = error;
    this.effects.push({ type: 'stop_worker', device: device.id });
    this.show(device.id, { state: 'switched_off', error });
    this.effects.push({ type: 'record_switched_off', device: device.id, error });
    this.note(
      'error',
      'device_switched_off',
      sentence('note.switched_off', { device: deviceNamed(device), cause }),
    );
    this.haltIfNoneLeft(cause, nextStep, detail);
  }

  /** The part comes back untouched, through no fault of its own. */
  private giveBack(key: string, outcome: 'recalled' | 'interrupted'): void {
    const { queue } = this.state;
    this.ask({ type: 'end_attempt', key, outcome, failure: null });
    queue.giveBack(key, queue.casualtiesOf(key));
  }

  /** A part has cost a worker its life or its memory: try again, cut it in two, or let its sequences fail by name. */
  private attemptFailed(key: string, failure: PartFailure): void {
    const { queue } = this.state;
    this.ask({ type: 'end_attempt', key, outcome: 'worker_lost', failure });
    if (decideAfterFailedAttempt(queue.casualtiesOf(key)) === 'try_again') queue.giveBack(key, 1);
    else this.ask({ type: 'split_part', key, failure });
  }

  private partSplit({ key, split, children, failure }: Extract<StoreAnswer, { type: 'part_split' }>): void {
    switch (split.outcome) {
      case 'split':
        this.note('warning', 'part_bisected', sentence('note.part_bisected', { part: key }));
        this.settle(key);
        for (const child of children) this.offer(child);
        break;
      case 'indivisible':
        this.ask({ type: 'give_up_part', key, failure });
        break;
      case 'superseded':
        this.settle(key);
        break;
      case 'part_damaged':
        this.lose(key, split.message);
        break;
    }
  }

  // ---- Prepare ----

  private partPrepared(key: string, registered: 'new' | 'known' | 'replaced'): void {
    const { queue, awaited } = this.state;
    // Another reading of the input replaces it.
    if (registered === 'replaced') queue.withdraw(key);
    const wasAwaited = awaited.delete(key);
    if (registered !== 'known' || wasAwaited) this.ask({ type: 'read_part', key });
  }

  /** The part's file is missing or damaged: prepare must write it again. */
  private lose(key: string, message: string): void {
    const { state } = this;
    this.note('warning', 'part_file_damaged', sentence('note.part_file_damaged', { part: key }), message);
    this.settle(key);
    const losses = this.lossesOf(key) + 1;
    state.losses.set(preparedKey(key), losses);
    if (losses > MOST_LOSSES) {
      const cause = sentence('part.lost', { part: key, times: losses });
      const nextStep = sentence('part.lost.next');
      this.halt(appError('folder_unwritable', cause, { nextStep, detail: message }));
      return;
    }
    state.awaited.add(preparedKey(key));
    if (state.ended || state.supply !== 'finished') return;
    state.supply = 'invalidating';
    this.ask({ type: 'invalidate_prepare' });
  }

  private lossesOf(key: string): number {
    return this.state.losses.get(preparedKey(key)) ?? 0;
  }

  private startPrepare(): void {
    if (this.state.ended) return;
    this.state.supply = 'preparing';
    this.effects.push({ type: 'start_prepare' });
  }

  // ---- A cluster's devices ----

  private join(id: string, name: string): void {
    const { state } = this;
    const before = state.devices.get(id);
    if (before?.present) return;
    const device = newDevice({ id, name });
    state.devices.set(id, device);
    if (before) {
      device.included = before.included;
      device.condemned = before.condemned;
    }
    if (state.ended) return;
    this.note('info', 'device_joined', sentence('note.joined', { device: deviceNamed(device) }));
    if (device.condemned) this.show(id, { state: 'switched_off', error: device.condemned });
    else if (device.included) this.startWorker(device);
    else this.show(id, { state: 'excluded' });
  }

  /** What it had in work waits again, and is not to blame. */
  private deviceLeft(device: DeviceWork, reason: string): void {
    if (!device.present) return;
    for (const key of device.held.slice()) {
      this.leave(device.id, key);
      this.giveBack(key, 'interrupted');
    }
    device.present = false;
    device.stopping = false;
    this.effects.push({ type: 'forget_worker', device: device.id });
    this.show(device.id, { state: 'left', reason });
    if (this.state.ended) return;
    this.note('info', 'device_left', sentence('note.left', { device: deviceNamed(device), reason }));
    this.haltIfAllAreOff();
  }

  private poolWaits(waiting: number): void {
    if (!this.state.pool) return;
    this.state.pool.waiting = waiting;
    this.haltIfAllAreOff();
  }

  private poolDied(error: AppError, restartAttempt: number | null): void {
    const { pool } = this.state;
    if (!pool) return;
    pool.open = false;
    pool.waiting = 0;
    if (restartAttempt === null) this.halt(error);
    else this.note('warning', error.code, causeOf(error), error.detail);
  }

  /** No more devices are to come, and those that are there compute nothing. */
  private haltIfAllAreOff(): void {
    const present = [...this.state.devices.values()].filter((device) => device.present);
    const off = present.map(({ worker }) => worker).find(({ state }) => state === 'switched_off');
    if (off?.state === 'switched_off')
      this.haltIfNoneLeft(causeOf(off.error), nextStepOf(off.error), off.error.detail);
    else if (present.length > 0)
      this.haltIfNoneLeft(sentence('halt.all_excluded'), sentence('halt.all_excluded.next'));
  }

  // ---- Workers ----

  private startWorker(device: DeviceWork): void {
    device.worker = { state: 'starting' };
    this.effects.push({ type: 'start_worker', device: device.id });
  }

  private workerDied(id: string, error: AppError, restartAttempt: number | null): void {
    const device = this.device(id);
    this.note(
      'warning',
      error.code,
      sentence(restartAttempt === null ? 'note.worker_failed' : 'note.worker_restarts', {
        device: deviceNamed(device),
        cause: causeOf(error),
      }),
      error.detail,
    );
    // Reading, computing and writing overlap: any of them may have been the cause.
    for (const key of device.held.slice()) {
      this.leave(id, key);
      this.attemptFailed(key, { code: 'internal_error', message: error.cause });
    }
    if (restartAttempt !== null) {
      this.show(id, { state: 'restarting', attempt: restartAttempt, error });
      return;
    }
    this.show(id, { state: 'switched_off', error });
    this.effects.push({ type: 'record_switched_off', device: id, error });
    this.note(
      'error',
      'device_switched_off',
      sentence('note.switched_off', { device: deviceNamed(device), cause: causeOf(error) }),
    );
    this.haltIfNoneLeft(
      causeOf(error),
      RESTARTS_BY_ITSELF.has(error.code) ? undefined : nextStepOf(error),
      error.detail,
    );
  }

  private exclude(device: DeviceWork): void {
    if (!device.included) return;
    device.included = false;
    if (hasWorker(device)) {
      device.stopping = true;
      this.effects.push({ type: 'stop_worker', device: device.id });
    } else if (!device.stopping) {
      this.excluded(device);
    }
  }

  /** One that is restarting gets the smaller batches with its next start. */
  private halveBatches(): void {
    if (this.state.ended) return;
    const devices = [...this.state.devices.values()].filter(hasWorker).map(({ id }) => id);
    this.effects.push({ type: 'halve_batches', devices });
    this.note('info', 'batches_halved', sentence('note.batches_halved'));
  }

  private excluded(device: DeviceWork): void {
    if (device.present) this.show(device.id, { state: 'excluded' });
    this.note('info', 'device_excluded', sentence('note.excluded', { device: deviceNamed(device) }));
    this.haltIfNoneLeft(sentence('halt.all_excluded'), sentence('halt.all_excluded.next'));
  }

  private include(device: DeviceWork): void {
    if (hasWorker(device) || this.state.ended) return;
    device.included = true;
    device.condemned = null;
    this.note('info', 'device_included', sentence('note.included', { device: deviceNamed(device) }));
    if (device.worker.state === 'switched_off')
      this.effects.push({ type: 'record_switched_off', device: device.id, error: null });
    // A worker that is still ending holds the device's memory; a device that has left may come back.
    if (!device.stopping && device.present) this.startWorker(device);
  }

  private workerStopped(device: DeviceWork): void {
    for (const key of device.held.slice()) {
      this.leave(device.id, key);
      this.giveBack(key, 'interrupted');
    }
    device.stopping = false;
    // What it was switched off for stays in sight.
    if (device.condemned) return;
    this.show(device.id, { state: 'stopped' });
    if (this.state.ended) return;
    if (device.included) this.startWorker(device);
    else this.excluded(device);
  }

  /** The part is with this device's worker no more. False where the worker never had it. */
  private leave(id: string, key: string): boolean {
    const device = this.device(id);
    const place = device.held.indexOf(key);
    if (place < 0) return false;
    device.held.splice(place, 1);
    this.state.recalled.delete(key);
    this.showWork(device);
    return true;
  }

  private recall(device: DeviceWork, key: string): void {
    if (this.state.recalled.has(key)) return;
    this.state.recalled.add(key);
    this.effects.push({ type: 'recall', device: device.id, key });
  }

  // ---- Handing out ----

  /** Gives waiting parts to free workers: everybody one first, then a second. */
  private handOut(): void {
    const { state } = this;
    if (state.ended) return;
    const devices = [...state.devices.values()];
    if (!state.draining) {
      for (const free of [PARTS_IN_FLIGHT, 1])
        for (const device of devices) if (freeSlots(device) >= free) this.assignNext(device);
      this.recallForIdleWorkers(devices);
    }
    if (state.queue.assignedCount > 0 || state.unanswered > 0) return;
    if (state.supply === 'finished' && state.queue.waitingCount === 0) {
      if (!state.checking) this.end({ type: 'settled' });
    } else if (state.draining) {
      this.end({ type: 'drained' });
    }
  }

  private assignNext(device: DeviceWork): void {
    const { queue, parts } = this.state;
    const queued = queue.take(device.id);
    const part = queued && parts.get(queued.key);
    if (!part) return;
    device.held.push(part.key);
    this.effects.push({ type: 'assign', device: device.id, part });
    this.showWork(device);
  }

  /** Towards the end, a worker without work gets a part that another one holds but has not begun. */
  private recallForIdleWorkers(devices: readonly DeviceWork[]): void {
    const { state } = this;
    if (state.queue.waitingCount > 0 || state.supply !== 'finished') return;
    let wanted =
      devices.filter((device) => freeSlots(device) === PARTS_IN_FLIGHT).length - state.recalled.size;
    for (const device of devices) {
      for (const key of notBegun(device)) {
        if (wanted <= 0 || state.recalled.has(key)) continue;
        this.recall(device, key);
        wanted -= 1;
      }
    }
  }

  private haltIfNoneLeft(cause: Message, nextStep?: Message, detail?: string): void {
    const { devices, supply } = this.state;
    const yetToStart = supply === 'not_started';
    if (this.mayBringMore()) return;
    if ([...devices.values()].some((device) => hasWorker(device) || (yetToStart && device.included))) return;
    this.halt(appError('no_usable_device', cause, { nextStep, detail }));
  }

  /** While a cluster has not answered, has announced devices, or has none there, the run waits for it. */
  private mayBringMore(): boolean {
    const { pool, devices } = this.state;
    if (pool === null) return false;
    return !pool.open || pool.waiting > 0 || [...devices.values()].every(({ present }) => !present);
  }

  private halt(error: AppError): void {
    if (!this.state.ended) this.end({ type: 'halt', error });
  }

  private end(outcome: Extract<WorkEffect, { type: 'settled' | 'drained' | 'halt' }>): void {
    this.state.ended = true;
    this.effects.push(outcome);
  }

  private ask(effect: StoreEffect): void {
    this.state.unanswered += 1;
    this.effects.push(effect);
  }

  private note(level: 'info' | 'warning' | 'error', code: string, words: Message, detail?: string): void {
    this.effects.push({
      type: 'note',
      level,
      code,
      message: words,
      ...(detail === undefined ? {} : { detail }),
    });
  }

  private showWork(device: DeviceWork): void {
    if (device.condemned) return;
    const [part] = device.held;
    this.show(device.id, part === undefined ? { state: 'idle' } : { state: 'working', part });
  }

  private show(id: string, worker: WorkerState): void {
    this.device(id).worker = worker;
    this.effects.push({ type: 'show_worker', device: id, state: worker });
  }

  private device(id: string): DeviceWork {
    const device = this.state.devices.get(id);
    if (!device) throw new Error(`device ${id} is not part of this run`);
    return device;
  }
}

/** It has a process, or will soon have one again. */
function hasWorker({ worker, stopping }: DeviceWork): boolean {
  return !stopping && !WITHOUT_WORKER.has(worker.state);
}

const WITHOUT_WORKER: ReadonlySet<WorkerState['state']> = new Set([
  'stopped',
  'switched_off',
  'excluded',
  'left',
]);

function freeSlots({ worker, stopping, held }: DeviceWork): number {
  const ready = worker.state === 'idle' || worker.state === 'working';
  return ready && !stopping ? PARTS_IN_FLIGHT - held.length : 0;
}

/** Parts that its worker has but has not begun, last assigned first. */
function notBegun({ stopping, held }: DeviceWork): string[] {
  return stopping ? [] : held.slice(1).reverse();
}

/** The part as prepare wrote it, of which this one may be a half. */
export function preparedKey(key: string): string {
  return key.replace(/\..*$/, '');
}
