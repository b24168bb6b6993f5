import { join } from 'node:path';
import type { AppError } from '../../contract/errors.ts';
import {
  monitorEventSchema,
  type MonitorEvent,
  type PreparedShard,
  type PrepareProgress,
  type WorkerReady,
} from '../../contract/protocol/index.ts';
import { isGpu, workerEnvironment, type ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';
import { pythonLaunch } from '../environment/pythonLaunch.ts';
import type { Registered, StoredRun } from '../store/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { BackendProcess } from '../workers/backendProcess.ts';
import type { DeviceWorkerOptions } from '../workers/deviceWorker.ts';
import { recorded, type RecordedLaunch } from '../workers/processRecords.ts';
import type { BatchSizes } from './batchSizes.ts';
import { DeviceLog } from './deviceLog.ts';
import { noteImbalance } from './imbalance.ts';
import { InferenceStage } from './inferenceStage.ts';
import { PrepareStage } from './prepareStage.ts';
import type { RunNotes } from './runNotes.ts';
import { storedDevice, type MemoryUse } from './storedDevice.ts';

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
  ready: (device: ChosenDevice, ready: WorkerReady) => void;
}

/** One stretch of work on a run, from start or resume to its pause or end: prepare, workers and monitor together. */
export class WorkingPeriod {
  private readonly options: WorkingPeriodOptions;
  private readonly handlers: WorkingPeriodHandlers;
  readonly inference: InferenceStage;
  private readonly deviceLog: DeviceLog;
  private prepare: PrepareStage | undefined;
  private monitor: BackendProcess<MonitorEvent> | undefined;
  private preparing: PrepareProgress | null = null;
  private preparedOnce: boolean;
  /** How the model lies in the devices' memory, by device. */
  private readonly memoryUse = new Map<string, MemoryUse>();
  /** Shards whose files must be written again before they can be computed. */
  private readonly awaited = new Set<string>();
  private stopped = false;

  constructor(options: WorkingPeriodOptions, handlers: WorkingPeriodHandlers) {
    this.options = options;
    this.handlers = handlers;
    this.preparedOnce = options.run.prepared !== null;
    this.deviceLog = new DeviceLog(options.notes.log, options.devices);
    this.inference = new InferenceStage(
      {
        store: options.store,
        notes: options.notes,
        devices: options.devices,
        keepEmbeddings: options.run.plan.embeddings !== null,
        worker: (device) => this.workerOptions(device),
      },
      {
        settled: handlers.settled,
        drained: handlers.drained,
        halt: handlers.halt,
        ready: (device, ready) => {
          options.batches.loaded(device.id, ready);
          this.noteMemoryUse(device, ready);
          handlers.ready(device, ready);
        },
        ranOutOfMemory: (device, event) => {
          options.batches.ranOut(device.id, event);
          const before = this.memoryUse.get(device.id);
          if (before)
            this.noteMemoryUse(device, { ...before, tokens_per_batch: event.tokens_per_batch_after });
        },
        shardTaken: () => undefined,
        shardLost: (key) => {
          this.prepareAgainFor(key);
        },
      },
    );
  }

  get prepareProgress(): PrepareProgress | null {
    return this.preparing;
  }

  get prepareFinished(): boolean {
    return this.preparedOnce && this.prepare === undefined;
  }

  async start(): Promise<void> {
    const { store } = this.options;
    const damaged = new Set(await store.verifyPendingShards());
    const pending = await store.pendingShards();
    if (damaged.size > 0) {
      await store.invalidatePrepare();
      this.preparedOnce = false;
      for (const key of damaged) this.awaited.add(preparedKey(key));
    }
    if (pending.length === 0 && this.preparedOnce) {
      this.inference.setAllOffered(true);
      return;
    }
    this.startMonitor();
    this.inference.start();
    for (const shard of pending) if (!damaged.has(shard.key)) this.inference.offer(shard);
    if (this.preparedOnce) this.inference.setAllOffered(true);
    else this.startPrepare();
  }

  /** Ends every process. What was computed is stored; what was in work is pending again. */
  async stop(graceMs?: number): Promise<void> {
    this.stopped = true;
    this.deviceLog.write(Date.now());
    await Promise.all([this.prepare?.stop(), this.inference.stop(graceMs), this.monitor?.stop(1000)]);
  }

  /** For `status` and run.json. */
  private noteMemoryUse(device: ChosenDevice, use: MemoryUse): void {
    this.memoryUse.set(device.id, use);
    // Losing a fact harms nobody; a full disk is told by the call that stores scores.
    this.options.store.saveDevices([storedDevice(device, use)]).catch(() => undefined);
  }

  private startPrepare(): void {
    const { store, notes, run } = this.options;
    this.prepare = new PrepareStage(
      this.launch('prepare', [], { CUDA_VISIBLE_DEVICES: '' }),
      join(store.folder, 'logs', 'prepare.log'),
      {
        type: 'prepare',
        inputs: run.plan.inputs.map((input, number) => ({
          input: number,
          path: input.path,
          sha256: input.sha256,
        })),
        work_dir: join(store.folder, 'work'),
        chunk_length: run.plan.chunkLength,
        residues_per_shard: run.plan.residuesPerShard,
        tail_shards: run.plan.tailShards,
      },
      store,
      notes,
      {
        progress: (progress) => {
          this.preparing = progress;
        },
        shard: (shard, registered) => this.onShard(shard, registered),
        finished: () => {
          this.onPrepared();
        },
        failed: this.handlers.halt,
      },
    );
  }

  private async onShard(shard: PreparedShard, registered: Registered): Promise<void> {
    if (registered === 'replaced') this.inference.withdraw(shard.key);
    if (registered === 'known' && !this.awaited.has(shard.key)) return;
    this.awaited.delete(shard.key);
    const stored = await this.options.store.shard(shard.key);
    if (stored?.state === 'pending') this.inference.offer(stored);
    if (stored?.state === 'split') await this.offerPendingHalves(shard.key);
  }

  /** A shard that was cut in two shares its file with its halves. */
  private async offerPendingHalves(key: string): Promise<void> {
    for (const shard of await this.options.store.pendingShards()) {
      if (shard.key !== key && preparedKey(shard.key) === key) this.inference.offer(shard);
    }
  }

  private onPrepared(): void {
    this.prepare = undefined;
    if (this.stopped) return;
    if (this.awaited.size > 0) {
      this.startPrepare();
      return;
    }
    this.preparedOnce = true;
    this.inference.setAllOffered(true);
  }

  private prepareAgainFor(key: string): void {
    if (this.stopped) return;
    this.awaited.add(preparedKey(key));
    this.inference.setAllOffered(false);
    if (this.prepare) return;
    this.preparedOnce = false;
    this.options.store.invalidatePrepare().then(() => {
      this.startPrepare();
    }, this.handlers.halt);
  }

  private startMonitor(): void {
    const { store, devices } = this.options;
    const gpus = devices.filter(isGpu).map(({ id }) => id);
    const args = ['--interval', '1', ...gpus.flatMap((uuid) => ['--uuid', uuid])];
    this.monitor = new BackendProcess(
      this.launch('monitor', args, { CUDA_VISIBLE_DEVICES: '' }),
      join(store.folder, 'logs', 'monitor.log'),
      monitorEventSchema,
      {
        event: (event) => {
          if (event.type !== 'sample') return;
          const telemetry = this.inference.devices();
          for (const device of telemetry) device.measure(event);
          const now = Date.now();
          // Losing a sample harms nobody; a full disk is told by the call that stores scores.
          const rows = telemetry.map((device) => device.sampleRow(now));
          store.addSamples(rows).catch(() => undefined);
          if (this.deviceLog.take(rows, now)) noteImbalance(store, this.options.notes).catch(() => undefined);
        },
        // The dashboard then shows no measurements; the run doesn't depend on them.
        fault: () => undefined,
        exit: () => undefined,
      },
    );
  }

  private launch(
    module: 'prepare' | 'monitor' | 'worker',
    args: readonly string[],
    variables: Readonly<Record<string, string>>,
  ): RecordedLaunch {
    const { environment, paths } = this.options.context;
    return recorded(pythonLaunch(environment, `virnucpro_backend.${module}`, args, variables), paths);
  }

  private workerOptions(device: ChosenDevice): DeviceWorkerOptions {
    const { context, store, run, batches } = this.options;
    const { plan } = run;
    return {
      device: device.id,
      launch: this.launch('worker', [], workerEnvironment(device)),
      logPath: join(store.folder, 'logs', `worker-${device.id.replaceAll(':', '-')}.log`),
      load: {
        type: 'load',
        device: device.kind,
        model_folder: plan.model.folder,
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

/** The shard as prepare wrote it, of which this one may be a half. */
function preparedKey(key: string): string {
  return key.replace(/\..*$/, '');
}
