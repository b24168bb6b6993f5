import { appError, type AppError, type ErrorCode } from '../../../contract/errors.ts';
import type { OutOfMemory, WorkerReady } from '../../../contract/protocol/index.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import type { StoredPart } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import {
  DeviceWorker,
  PARTS_IN_FLIGHT,
  type DeviceWorkerHandlers,
  type DeviceWorkerOptions,
} from '../../workers/deviceWorker.ts';
import { DeviceTelemetry } from '../progress/deviceTelemetry.ts';
import type { RunNotes } from '../runNotes.ts';
import { PartLedger } from './partLedger.ts';

export interface InferenceStageOptions {
  store: RunStore;
  notes: RunNotes;
  devices: readonly ChosenDevice[];
  keepEmbeddings: boolean;
  worker: (device: ChosenDevice) => DeviceWorkerOptions;
}

export interface InferenceStageHandlers {
  /** Every part there will be is done, failed or skipped. */
  settled: () => void;
  /** After `drain`: nothing is in work any more, but parts still wait. */
  drained: () => void;
  /** The run can't go on as it is: disk full, no device left. */
  halt: (error: AppError) => void;
  partLost: (key: string) => void;
  ready: (device: ChosenDevice, ready: WorkerReady) => void;
  /** The device's memory held fewer tokens than was thought. */
  ranOutOfMemory: (device: ChosenDevice, event: OutOfMemory) => void;
}

/** Deaths after which the advice of the single worker, that it starts again by itself, no longer holds. */
const STARTING_AGAIN_HELPS: ReadonlySet<ErrorCode> = new Set([
  'worker_died',
  'worker_silent',
  'worker_stalled',
  'protocol_garbage',
]);

/** One worker per device; hands parts to them as they ask, until none is left. */
export class InferenceStage {
  private readonly options: InferenceStageOptions;
  private readonly handlers: InferenceStageHandlers;
  private readonly ledger: PartLedger;
  private readonly workers = new Map<string, DeviceWorker>();
  private readonly telemetry = new Map<string, DeviceTelemetry>();
  /** Parts asked back from a worker that had not begun them. */
  private readonly recalled = new Set<string>();
  private allOffered = false;
  private draining = false;
  private ended = false;

  constructor(options: InferenceStageOptions, handlers: InferenceStageHandlers) {
    this.options = options;
    this.handlers = handlers;
    this.ledger = new PartLedger(options.store, options.notes, options.keepEmbeddings, {
      changed: () => {
        this.pump();
      },
      halt: handlers.halt,
      partLost: handlers.partLost,
    });
    for (const device of options.devices) this.telemetry.set(device.id, new DeviceTelemetry(device));
  }

  start(): void {
    for (const device of this.options.devices) this.startWorker(device);
  }

  offer(part: StoredPart): void {
    this.ledger.offer(part);
    this.pump();
  }

  withdraw(key: string): void {
    this.ledger.withdraw(key);
    this.pump();
  }

  /** Whether prepare has ended, so that no more parts will be offered. */
  setAllOffered(allOffered: boolean): void {
    this.allOffered = allOffered;
    this.pump();
  }

  get partsInWork(): number {
    return this.ledger.inWork;
  }

  devices(): DeviceTelemetry[] {
    return [...this.telemetry.values()];
  }

  /** Takes back what isn't begun and lets the rest be finished. */
  drain(): void {
    this.draining = true;
    for (const worker of this.workers.values()) for (const key of worker.notBegun) worker.recall(key);
    this.pump();
  }

  /** Ends all workers after the batch under way; what they held is pending again. */
  async stop(graceMs?: number): Promise<void> {
    this.ended = true;
    await Promise.all([...this.workers.keys()].map((device) => this.stopWorker(device, graceMs)));
    await this.ledger.stored();
  }

  async exclude(device: ChosenDevice): Promise<void> {
    await this.stopWorker(device.id);
    this.telemetry.get(device.id)?.setState({ state: 'excluded' });
    this.options.notes.add('info', 'device_excluded', `${device.name} was taken out of the run.`);
    this.pump();
    this.haltIfNoneLeft('All devices were taken out of the run.', 'Take in a device again, then resume.');
  }

  include(device: ChosenDevice): void {
    if (this.workers.has(device.id) || this.ended) return;
    this.options.notes.add('info', 'device_included', `${device.name} takes part in the run again.`);
    this.startWorker(device);
  }

  private startWorker(device: ChosenDevice): void {
    const worker = new DeviceWorker(this.options.worker(device), this.workerHandlers(device));
    this.workers.set(device.id, worker);
    worker.start();
  }

  private async stopWorker(device: string, graceMs?: number): Promise<void> {
    const worker = this.workers.get(device);
    if (!worker) return;
    this.workers.delete(device);
    for (const key of await worker.stop(graceMs)) this.giveBack(device, key);
    this.telemetry.get(device)?.setState({ state: 'stopped' });
  }

  private workerHandlers(device: ChosenDevice): DeviceWorkerHandlers {
    const { notes } = this.options;
    const telemetry = this.telemetryOf(device);
    return {
      stateChanged: (state) => {
        telemetry.setState(state);
      },
      ready: (ready) => {
        telemetry.setMemoryUse(ready.tokens_per_batch, ready.placement);
        this.handlers.ready(device, ready);
        this.pump();
      },
      progress: (progress) => {
        telemetry.progress(progress, Date.now());
      },
      heartbeat: (beat) => {
        telemetry.setWorkerMemory(beat.device_memory_bytes || beat.rss_bytes);
      },
      heldUp: () => {
        telemetry.rebase();
      },
      note: (level, message) => {
        notes.add(level, 'worker_note', `${device.name}: ${message}`);
      },
      outOfMemory: (event) => {
        telemetry.setTokensPerBatch(event.tokens_per_batch_after);
        this.handlers.ranOutOfMemory(device, event);
        notes.add(
          'warning',
          'smaller_batches',
          `${device.name} ran out of memory and goes on with smaller batches ` +
            `(${event.tokens_per_batch_after} instead of ${event.tokens_per_batch_before} tokens).`,
        );
      },
      partDone: (done) => {
        this.leave(device.id, done.part, true);
        this.ledger.done(done);
        this.pump();
      },
      partFailed: (failed) => {
        this.leave(device.id, failed.part, false);
        this.ledger.failed(device.id, failed);
        this.pump();
      },
      died: ({ held, error }) => {
        notes.add('warning', error.code, `${device.name}: ${error.cause}`, error.detail);
        // Reading, computing and writing overlap: any of them may have been the cause.
        for (const key of held) {
          this.leave(device.id, key, false);
          this.ledger.casualty(key, { code: 'internal_error', message: error.cause });
        }
        if (telemetry.state.state === 'switched_off') this.onSwitchedOff(device, error);
        this.pump();
      },
    };
  }

  /** Gives waiting parts to free workers: everybody one first, then a second. */
  private pump(): void {
    if (this.ended) return;
    if (!this.draining) {
      for (const free of [PARTS_IN_FLIGHT, 1]) {
        for (const [device, worker] of this.workers)
          if (worker.freeSlots >= free) this.assignNext(device, worker);
      }
      this.recallForIdleWorkers();
    }
    if (!this.ledger.idle) return;
    if (this.allOffered && this.ledger.waiting === 0) {
      this.ended = true;
      this.handlers.settled();
    } else if (this.draining) {
      this.ended = true;
      this.handlers.drained();
    }
  }

  private assignNext(device: string, worker: DeviceWorker): void {
    const command = this.ledger.take(device, worker.pid, worker.logName);
    if (command) worker.assign(command);
  }

  /** Towards the end, a worker without work gets a part that another one holds but has not begun. */
  private recallForIdleWorkers(): void {
    if (this.ledger.waiting > 0 || !this.allOffered) return;
    const workers = [...this.workers.values()];
    let wanted = workers.filter((worker) => worker.freeSlots === PARTS_IN_FLIGHT).length - this.recalled.size;
    for (const worker of workers) {
      for (const key of worker.notBegun) {
        if (wanted <= 0 || this.recalled.has(key)) continue;
        this.recalled.add(key);
        worker.recall(key);
        wanted -= 1;
      }
    }
  }

  private giveBack(device: string, key: string): void {
    this.leave(device, key, false);
    this.ledger.giveBack(device, key, 'interrupted');
  }

  /** The part is with this device's worker no more; `done` tells whether its work counts. */
  private leave(device: string, key: string, done: boolean): void {
    this.telemetry.get(device)?.leave(key, done);
    this.recalled.delete(key);
  }

  private onSwitchedOff(device: ChosenDevice, error: AppError): void {
    this.options.notes.add('error', 'device_switched_off', `${device.name} was switched off: ${error.cause}`);
    this.workers.delete(device.id);
    this.haltIfNoneLeft(
      error.cause,
      STARTING_AGAIN_HELPS.has(error.code) ? undefined : error.nextStep,
      error.detail,
    );
  }

  private haltIfNoneLeft(cause: string, nextStep?: string, detail?: string): void {
    if (this.workers.size > 0 || this.ended) return;
    const more = { ...(nextStep ? { nextStep } : {}), ...(detail ? { detail } : {}) };
    this.handlers.halt(appError('no_usable_device', cause, more));
  }

  private telemetryOf(device: ChosenDevice): DeviceTelemetry {
    const telemetry = this.telemetry.get(device.id);
    if (!telemetry) throw new Error(`device ${device.id} is not part of this run`);
    return telemetry;
  }
}
