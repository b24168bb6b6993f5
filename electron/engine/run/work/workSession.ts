import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { appError, asAppError } from '../../../contract/errors.ts';
import { deviceNamed, message } from '../../../contract/messages.ts';
import type { PrepareProgress, WorkerReady } from '../../../contract/protocol/index.ts';
import { NO_GPU, isOtherGpu } from '../../devices/chosenDevice.ts';
import { pathInRun, somethingAt } from '../../system/runFiles.ts';
import { formatBytes, formatCount, formatDuration } from '../../../contract/terminal/format.ts';
import type { StoredPart } from '../../store/types.ts';
import { DeviceWorker } from '../../workers/backendProcess.ts';
import { storedDevice, type DeviceFindings, type MemoryUse } from '../begin/chooseDevices.ts';
import { ClusterShares } from '../shares/clusterShares.ts';
import { mergeShares } from '../shares/mergeShares.ts';
import { nodeOf } from '../../store/shares.ts';
import { DeviceMonitor } from '../progress/deviceMonitor.ts';
import { DeviceTelemetry } from '../progress/deviceTelemetry.ts';
import {
  partCommand,
  prepareCommand,
  workerLog,
  workerOptions,
  type WorkSessionOptions,
} from './workProcesses.ts';
import { decideWork } from './decide/decideWork.ts';
import {
  newWorkState,
  type WorkState,
  type UserEvent,
  type WorkEffect,
  type WorkEvent,
  type WorkOutcome,
} from './decide/workState.ts';
import { PartLedger } from './partLedger.ts';
import { PrepareStage } from './prepareStage.ts';
import { localDevice, type WorkDevice } from '../workDevice.ts';

/**
 * One work session of a run, from start or resume to its pause or end. Prepare, workers, store and user emit
 * events; they are decided one after the other (`decideWork`), and the decisions are carried out here.
 */
export class WorkSession {
  private readonly options: WorkSessionOptions;
  private readonly onOutcome: (outcome: WorkOutcome) => void;
  private readonly state: WorkState;
  private readonly ledger: PartLedger;
  private readonly workers = new Map<string, DeviceWorker>();
  private readonly telemetry = new Map<string, DeviceTelemetry>();
  /** Workers of excluded devices that have not ended yet. */
  private readonly stopping = new Map<string, { worker: DeviceWorker; stopped: Promise<void> }>();
  private shares: ClusterShares | undefined;
  /** How the model is placed in the devices' memory, by device. */
  private readonly memoryUse = new Map<string, MemoryUse>();
  /** Numbers of inputs that can't be read. */
  private readonly leftOut = new Set<number>();
  private readonly events: WorkEvent[] = [];
  private deciding = false;
  private prepare: PrepareStage | undefined;
  private monitor: DeviceMonitor | undefined;
  private settled = false;
  private readProgress: PrepareProgress | null = null;
  private ready: WorkerReady | undefined;

  constructor(options: WorkSessionOptions, onOutcome: (outcome: WorkOutcome) => void) {
    const { devices, store, cluster, preparesOnly } = options;
    this.options = options;
    this.onOutcome = onOutcome;
    const node = nodeOf(options.record.stored);
    const own = devices.map((device) => localDevice(device, node));
    this.state = newWorkState(own, preparesOnly ? 'nothing' : cluster ? 'shares' : 'devices');
    this.ledger = new PartLedger(store, this.emit);
    for (const device of own) this.addDevice(device);
  }

  private addDevice(device: WorkDevice): void {
    this.telemetry.set(
      device.id,
      new DeviceTelemetry(device, this.options.record.stored.plan.tokensPerBatch),
    );
  }

  /** For a cluster: what computes, and its progress beyond what is stored here. */
  get onCluster(): Pick<ClusterShares, 'live' | 'devices' | 'workElsewhere'> | undefined {
    return this.shares;
  }

  devices(): DeviceTelemetry[] {
    return [...this.telemetry.values()];
  }

  uses(device: string): boolean {
    return this.telemetry.has(device);
  }

  get partsInWork(): number {
    return this.state.queue.assignedCount;
  }

  get prepareProgress(): PrepareProgress | null {
    return this.readProgress;
  }

  get prepareFinished(): boolean {
    return this.state.supply === 'not_started'
      ? this.options.record.stored.prepared !== null
      : this.state.supply === 'finished';
  }

  /** A worker's software, once one was ready. */
  get workerFacts(): WorkerReady | undefined {
    return this.ready;
  }

  /** Starts what is needed to compute the waiting parts and to read what has not been read. */
  async start(): Promise<void> {
    const { store, record } = this.options;
    await mergeShares(store, record.notes);
    for (const summary of await store.deviceSummaries())
      this.telemetry.get(summary.device)?.countOnFrom(summary);
    for (const { input, failure } of record.stored.inputs) if (failure) this.leftOut.add(input);
    const parts = await store.pendingParts();
    const files = partFiles(store.folder);
    const lost = parts.filter(({ path }) => !files.has(basename(path))).map(({ key }) => key);
    this.emit({ type: 'started', parts, lost, prepared: record.stored.prepared !== null });
  }

  request(event: UserEvent): void {
    this.emit(event);
  }

  /** Resolves once the device is free. */
  async exclude(device: string): Promise<void> {
    this.emit({ type: 'exclude_device', device });
    await this.stopping.get(device)?.stopped;
  }

  /** Ends every process. Computed results are stored; unfinished parts are pending again. */
  async stop(graceMs?: number): Promise<void> {
    this.emit({ type: 'stop' });
    await Promise.all([
      this.prepare?.stop(),
      this.monitor?.stop(),
      ...[...this.workers.keys()].map((device) => this.stopWorker(device, graceMs)),
      ...[...this.stopping.values()].map(({ worker, stopped }) =>
        Promise.all([stopped, worker.stop(graceMs)]),
      ),
    ]);
    await this.shares?.stop();
    await this.ledger.stored();
    for (const { device, watch } of this.telemetry.values()) {
      const before = this.options.record.stored.devices.find(({ id }) => id === device.id);
      this.recordDevice(device.id, { figures: watch.figures(), switchedOff: before?.switchedOff ?? null });
    }
  }

  /** The only way by which events reach the run. */
  private readonly emit = (event: WorkEvent): void => {
    this.events.push(event);
    // Carrying out an effect may emit another event, which waits until this one is handled.
    if (this.deciding) return;
    this.deciding = true;
    try {
      for (let next = this.events.shift(); next; next = this.events.shift()) {
        this.observe(next);
        for (const effect of decideWork(this.state, next)) this.perform(effect);
      }
    } catch (reason) {
      this.state.ended = true;
      this.onOutcome({ type: 'halt', error: asAppError(reason) });
    } finally {
      this.deciding = false;
    }
  };

  /** Handles events that are only measured, displayed or remembered. */
  private observe(event: WorkEvent): void {
    if (event.type === 'input_left_out') this.leftOut.add(event.input);
    if (event.type === 'prepare_progress') this.readProgress = event.progress;
    if (!('device' in event)) return;
    this.telemetry.get(event.device)?.observe(event, Date.now());
    const { batches } = this.options;
    if (event.type === 'worker_ready') {
      this.ready = event.ready;
      batches.loaded(event.device, event.ready);
      this.recordMemoryUse(event.device, event.ready);
      this.logReady(event.device, event.ready);
    } else if (event.type === 'part_done') {
      const remark = this.telemetry.get(event.device)?.watch.remark();
      if (remark) this.options.record.notes.add('warning', remark.code, remark.words);
    } else if (event.type === 'out_of_memory') {
      batches.ranOut(event.device, event.oom);
      const before = this.memoryUse.get(event.device);
      if (before)
        this.recordMemoryUse(event.device, {
          ...before,
          tokens_per_batch: event.oom.tokens_per_batch_after,
        });
    }
  }

  private perform(effect: WorkEffect): void {
    const { record } = this.options;
    switch (effect.type) {
      case 'start_monitor': {
        const { context, store } = this.options;
        this.monitor = new DeviceMonitor(context, store, record.notes, () => this.devices());
        break;
      }
      case 'start_shares':
        this.startShares();
        break;
      case 'start_prepare':
        this.startPrepare();
        break;
      case 'start_worker':
        this.startWorker(this.deviceOf(effect.device));
        break;
      case 'stop_worker':
        void this.stopWorker(effect.device);
        break;
      case 'assign':
        this.assign(effect.device, effect.part);
        break;
      case 'recall':
        this.workers.get(effect.device)?.recall(effect.key);
        break;
      case 'show_worker':
        this.telemetry.get(effect.device)?.setState(effect.state);
        break;
      case 'record_switched_off':
        this.recordDevice(effect.device, { switchedOff: effect.error });
        break;
      case 'note':
        record.notes.add(effect.level, effect.code, effect.message, effect.detail);
        break;
      case 'settled':
        this.settled = true;
        this.onOutcome(effect);
        break;
      case 'prepared':
      case 'drained':
      case 'halt':
        this.onOutcome(effect);
        break;
      default:
        this.ledger.perform(effect);
    }
  }

  private startWorker(device: WorkDevice): void {
    const worker = new DeviceWorker(workerOptions(this.options, device), this.emit);
    this.workers.set(device.id, worker);
    worker.start();
  }

  private async stopWorker(device: string, graceMs?: number): Promise<void> {
    const worker = this.workers.get(device);
    if (!worker) return;
    this.workers.delete(device);
    const stopped = worker.stop(graceMs, this.settled);
    this.stopping.set(device, { worker, stopped });
    await stopped;
    this.stopping.delete(device);
    this.emit({ type: 'worker_stopped', device });
  }

  private startShares(): void {
    const { context, store, record, cluster } = this.options;
    if (!cluster) return;
    const { runId } = record.stored.description;
    this.shares = new ClusterShares({
      context,
      store,
      notes: record.notes,
      runId,
      cluster,
      emit: this.emit,
    });
    this.shares.start();
  }

  private assign(device: string, part: StoredPart): void {
    const worker = this.workers.get(device);
    if (!worker) throw new Error(`device ${device} has no worker`);
    this.ledger.startAttempt({
      part: part.key,
      device,
      workerPid: worker.pid,
      startedAt: Date.now(),
      log: workerLog(device),
    });
    worker.assign(partCommand(this.options, part));
  }

  /** Reads the inputs from their beginning. What is already known is kept. */
  private startPrepare(): void {
    const { context, store, record } = this.options;
    if (nodeOf(record.stored) !== null) {
      // A share has parts of a run that has been read, but not its inputs.
      const cause = message('share.part_lost', { folder: store.folder });
      this.emit({ type: 'prepare_failed', error: appError('prepare_failed', cause) });
      return;
    }
    const prepare: PrepareStage = new PrepareStage(
      pythonLaunch(context.environment, 'virnucpro_backend.prepare', [], NO_GPU),
      join(store.folder, 'logs', 'prepare.log'),
      prepareCommand(this.options, this.leftOut),
      store,
      record.notes,
      (event) => {
        if (this.prepare === prepare) this.emit(event);
      },
      record.request.strict,
    );
    this.prepare = prepare;
  }

  /**
   * Logs what computes, and checks that it is the intended device: two workers on one GPU would both be slow.
   */
  private logReady(device: string, ready: WorkerReady): void {
    const { notes } = this.options.record;
    const { id, name } = this.deviceOf(device);
    notes.log.line(
      'info',
      `${name} (${id}) is ready after ${formatDuration(ready.load_seconds)}: ${ready.attention}, ` +
        `PyTorch ${ready.torch_version}, ${formatBytes(ready.memory_bytes)} of memory, ` +
        `batches of ${formatCount(ready.tokens_per_batch)} tokens`,
    );
    const found = ready.device_uuid;
    if (found !== null && isOtherGpu(id, found))
      notes.add(
        'warning',
        'wrong_device',
        message('note.wrong_device', { device: deviceNamed({ id, name }), found }),
      );
  }

  private recordMemoryUse(device: string, use: MemoryUse): void {
    this.memoryUse.set(device, use);
    this.recordDevice(device, { memory: use });
  }

  /** Records a device for `status` and run.json. */
  private recordDevice(id: string, findings: DeviceFindings): void {
    // Losing a fact does no harm; a full disk is reported by the call that stores scores.
    this.options.record.saveDevices([storedDevice(this.deviceOf(id), findings)]).catch(() => undefined);
  }

  private deviceOf(id: string): WorkDevice {
    const telemetry = this.telemetry.get(id);
    if (!telemetry) throw new Error(`device ${id} is not part of this run`);
    return telemetry.device;
  }
}

function partFiles(folder: string): ReadonlySet<string> {
  const path = pathInRun(folder, 'work/parts');
  return new Set(somethingAt(path) ? readdirSync(path) : []);
}
