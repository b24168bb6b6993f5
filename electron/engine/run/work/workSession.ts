import { join } from 'node:path';
import type { AppError } from '../../../contract/errors.ts';
import type { PrepareProgress, WorkerReady } from '../../../contract/protocol/index.ts';
import { workerEnvironment, type ChosenDevice } from '../../devices/index.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { StoredRun } from '../../store/types.ts';
import { modelFolderOf } from '../../models/index.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { DeviceWorkerOptions } from '../../workers/deviceWorker.ts';
import { backendLaunch } from './backendLaunch.ts';
import type { BatchSizes } from './batchSizes.ts';
import { DeviceMonitor } from '../progress/deviceMonitor.ts';
import { InferenceStage } from './inferenceStage.ts';
import type { RunNotes } from '../runNotes.ts';
import { PartSupply } from './partSupply.ts';
import { storedDevice, type MemoryUse } from '../begin/storedDevice.ts';

export interface WorkingPeriodOptions {
  context: EngineContext;
  store: RunStore;
  notes: RunNotes;
  run: StoredRun;
  devices: readonly ChosenDevice[];
  /** What is known of the devices' memory. */
  batches: BatchSizes;
}

export interface WorkingPeriodHandlers {
  settled: () => void;
  drained: () => void;
  halt: (error: AppError) => void;
  ready: (ready: WorkerReady) => void;
}

/** One stretch of work on a run, from start or resume to its pause or end: prepare, workers and monitor together. */
export class WorkSession {
  readonly inference: InferenceStage;
  private readonly options: WorkingPeriodOptions;
  private readonly supply: PartSupply;
  private monitor: DeviceMonitor | undefined;
  /** How the model lies in the devices' memory, by device. */
  private readonly memoryUse = new Map<string, MemoryUse>();
  private stopped = false;

  constructor(options: WorkingPeriodOptions, handlers: WorkingPeriodHandlers) {
    const { context, store, notes, run, devices, batches } = options;
    this.options = options;
    this.supply = new PartSupply(context, store, notes, run, {
      offer: (part) => {
        this.inference.offer(part);
      },
      withdraw: (key) => {
        this.inference.withdraw(key);
      },
      allOffered: (allOffered) => {
        this.inference.setAllOffered(allOffered);
      },
      failed: handlers.halt,
    });
    this.inference = new InferenceStage(
      {
        store,
        notes,
        devices,
        keepEmbeddings: run.plan.embeddings !== null,
        worker: (device) => this.workerOptions(device),
      },
      {
        settled: handlers.settled,
        drained: handlers.drained,
        halt: handlers.halt,
        ready: (device, ready) => {
          batches.loaded(device.id, ready);
          this.noteMemoryUse(device, ready);
          handlers.ready(ready);
        },
        ranOutOfMemory: (device, event) => {
          batches.ranOut(device.id, event);
          const before = this.memoryUse.get(device.id);
          if (before)
            this.noteMemoryUse(device, { ...before, tokens_per_batch: event.tokens_per_batch_after });
        },
        partLost: (key) => {
          this.supply.prepareAgainFor(key);
        },
      },
    );
  }

  get prepareProgress(): PrepareProgress | null {
    return this.supply.prepareProgress;
  }

  get prepareFinished(): boolean {
    return this.supply.prepareFinished;
  }

  async start(): Promise<void> {
    const { context, store, notes, devices } = this.options;
    const somethingToCompute = await this.supply.check();
    if (this.stopped) return;
    if (somethingToCompute) {
      this.monitor = new DeviceMonitor(context, store, notes, devices, this.inference.devices());
      this.inference.start();
    }
    this.supply.start();
  }

  /** Ends every process. What was computed is stored; what was in work is pending again. */
  async stop(graceMs?: number): Promise<void> {
    this.stopped = true;
    await Promise.all([this.supply.stop(), this.inference.stop(graceMs), this.monitor?.stop()]);
  }

  /** For `status` and run.json. */
  private noteMemoryUse(device: ChosenDevice, use: MemoryUse): void {
    this.memoryUse.set(device.id, use);
    // Losing a fact harms nobody; a full disk is told by the call that stores scores.
    this.options.store.saveDevices([storedDevice(device, use)]).catch(() => undefined);
  }

  private workerOptions(device: ChosenDevice): DeviceWorkerOptions {
    const { context, store, run, batches } = this.options;
    const { plan } = run;
    return {
      device: device.id,
      launch: backendLaunch(context, 'worker', [], workerEnvironment(device)),
      logPath: join(store.folder, 'logs', `worker-${device.id.replaceAll(':', '-')}.log`),
      load: {
        type: 'load',
        device: device.kind,
        model_folder: modelFolderOf(plan.model, context.paths),
        precision: plan.precision,
        tokens_per_batch: plan.tokensPerBatch,
        embed_equal_sequences_once: plan.embedEqualSequencesOnce,
        embeddings: plan.embeddings,
        memory_fraction: null,
        ...batches.limitsOf(device.id),
        placement: 'auto',
      },
      deadlines: context.deadlines,
      restartDelayMs: context.restartDelayMs,
    };
  }
}
