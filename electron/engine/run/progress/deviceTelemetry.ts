import type { DeviceSample, Placement, PartProgress } from '../../../contract/protocol/index.ts';
import type { DeviceLive, WorkerState } from '../../../contract/rpc/runs.ts';
import type { DeviceSampleRow, DeviceSummary } from '../../store/types.ts';
import type { DeviceWorkerEvent } from '../../workers/backendProcess.ts';
import type { WorkDevice } from '../workDevice.ts';
import { WorkerWatch } from './workerWatch.ts';

/** Values of a device's sensors; null for those that its vendor does not measure. */
export type DeviceMeasures = Pick<
  DeviceSample['devices'][number],
  'utilization_percent' | 'memory_used_bytes' | 'temperature_c' | 'power_w'
>;

const STARTING: ReadonlySet<WorkerState['state']> = new Set(['starting', 'loading', 'restarting']);

type DeviceEvent = DeviceWorkerEvent | { type: 'worker_stopped' | 'exclude_device' | 'include_device' };

/**
 * The known facts about one device during a run: its worker's state, its work, and the monitor's
 * measurements.
 */
export class DeviceTelemetry {
  readonly device: WorkDevice;
  private readonly residues = new RateMeter();
  private readonly frames = new RateMeter();
  private readonly parts = new Map<string, PartProgress>();
  private worker: WorkerState = { state: 'stopped' };
  private partsDone = 0;
  private residuesStored = 0;
  private stalls = false;
  private tokensPerBatch: number | null = null;
  private placement: Placement | null = null;
  private measured: DeviceMeasures | undefined;
  private workerMemoryBytes: number | null = null;

  /** Batches and memory of its worker. */
  readonly watch: WorkerWatch;

  constructor(device: WorkDevice, plannedTokensPerBatch: number) {
    this.device = device;
    this.watch = new WorkerWatch(device, plannedTokensPerBatch);
  }

  /** Counts on from what the device computed in earlier work sessions of the run. */
  countOnFrom({ parts, residues }: DeviceSummary): void {
    this.partsDone += parts;
    this.residuesStored += residues;
  }

  setState(state: WorkerState): void {
    this.worker = state;
    if (state.state === 'loading' || state.state === 'starting') this.restartMeters();
  }

  observe(event: DeviceEvent, now: number): void {
    switch (event.type) {
      case 'worker_ready':
        this.tokensPerBatch = event.ready.tokens_per_batch;
        this.placement = event.ready.placement;
        this.watch.restarted();
        break;
      case 'out_of_memory':
        this.tokensPerBatch = event.oom.tokens_per_batch_after;
        break;
      case 'heartbeat':
        this.workerMemoryBytes = event.beat.device_memory_bytes || event.beat.rss_bytes;
        break;
      case 'held_up':
        this.restartMeters();
        break;
      case 'stalls':
        this.stalls = event.stalls;
        break;
      case 'part_progress':
        this.progress(event.progress, now);
        break;
      case 'part_done':
        this.partsDone += 1;
        this.residuesStored += event.done.residues;
        this.watch.take(event.done);
        this.parts.delete(event.done.part);
        break;
      case 'part_failed':
        this.parts.delete(event.failed.part);
        break;
      case 'worker_died':
      case 'worker_stopped':
        this.parts.clear();
        this.stalls = false;
        break;
      default:
    }
  }

  /** Restarts the measurement of its speed. */
  private restartMeters(): void {
    this.residues.reset();
    this.frames.reset();
  }

  private progress(progress: PartProgress, now: number): void {
    const before = this.parts.get(progress.part);
    this.residues.add(progress.residues_done - (before?.residues_done ?? 0), now);
    this.frames.add(progress.frames_done - (before?.frames_done ?? 0), now);
    this.parts.set(progress.part, progress);
  }

  measure(measures: DeviceMeasures | undefined): void {
    this.measured = measures;
  }

  /** Residues of the current parts that are computed but not yet stored. */
  get residuesInWork(): number {
    return [...this.parts.values()].reduce((sum, part) => sum + part.residues_done, 0);
  }

  residuesPerSecond(now: number): number | null {
    return this.worker.state === 'working' ? this.residues.rate(now) : null;
  }

  /** Whether it will compute unless its start fails. */
  get isStarting(): boolean {
    return STARTING.has(this.worker.state);
  }

  live(now: number): DeviceLive {
    const { device, worker, measured } = this;
    const part = worker.state === 'working' ? this.parts.get(worker.part) : undefined;
    return {
      id: device.id,
      name: device.name,
      index: device.index,
      place: device.place,
      worker: worker.state === 'working' && this.stalls ? { ...worker, state: 'stalled' } : worker,
      partFraction: part && part.residues_total > 0 ? part.residues_done / part.residues_total : null,
      partsDone: this.partsDone,
      residuesDone: this.residuesStored + this.residuesInWork,
      residuesPerSecond: this.residuesPerSecond(now),
      framesPerSecond: worker.state === 'working' ? this.frames.rate(now) : null,
      tokensPerBatch: this.tokensPerBatch,
      placement: this.placement,
      utilizationPercent: measured?.utilization_percent ?? null,
      memoryUsedBytes: measured?.memory_used_bytes ?? this.workerMemoryBytes,
      memoryTotalBytes: device.memoryTotalBytes,
      temperatureC: measured?.temperature_c ?? null,
      powerW: measured?.power_w ?? null,
      ...this.watch.figures(),
    };
  }

  sampleRow(now: number): DeviceSampleRow {
    const live = this.live(now);
    return {
      time: now,
      device: live.id,
      utilizationPercent: live.utilizationPercent,
      memoryUsedBytes: live.memoryUsedBytes,
      powerW: live.powerW,
      temperatureC: live.temperatureC,
      residuesPerSecond: live.residuesPerSecond,
      framesPerSecond: live.framesPerSecond,
    };
  }
}

/** Amounts over time, and their rate over a recent window. */
export class RateMeter {
  private readonly windowMs: number;
  private readonly points: { at: number; total: number }[] = [];
  private total = 0;

  constructor(windowMs = 60_000) {
    this.windowMs = windowMs;
  }

  add(amount: number, now: number): void {
    if (this.points.length === 0) this.points.push({ at: now, total: this.total });
    this.total += amount;
    this.points.push({ at: now, total: this.total });
    while (this.points.length > 2 && now - (this.points[1]?.at ?? now) > this.windowMs) this.points.shift();
  }

  /** Units per second over the window; null without enough data. */
  rate(now: number): number | null {
    const [first] = this.points;
    if (!first || this.points.length < 2) return null;
    const seconds = (now - first.at) / 1000;
    return seconds > 0.5 ? (this.total - first.total) / seconds : null;
  }

  /** Discards earlier data, for example after a pause or a sleep of the computer. */
  reset(): void {
    this.points.length = 0;
  }
}
