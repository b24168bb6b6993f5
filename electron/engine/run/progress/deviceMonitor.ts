import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { join } from 'node:path';
import {
  monitorEventSchema,
  type DeviceSample,
  type MonitorEvent,
} from '../../../contract/protocol/index.ts';
import { NO_GPU, isGpu } from '../../devices/chosenDevice.ts';
import type { EngineContext } from '../engineContext.ts';
import type { RunStore } from '../../store/runStore.ts';
import { BackendProcess } from '../../workers/backendProcess.ts';
import type { DeviceTelemetry } from './deviceTelemetry.ts';
import { noteImbalance } from './remarks.ts';
import type { RunNotes, RunLog } from '../runNotes.ts';
import type { DeviceSampleRow } from '../../store/types.ts';
import { formatDuration, formatMeasures } from '../../../contract/terminal/format.ts';

const STOP_GRACE_MS = 1_000;
/** Samples come every second; more frequent ones are useless, and would fill the database. */
const LEAST_INTERVAL_MS = 200;
/** Devices sampled at a time: the hundreds of a cluster would fill the database in a day. */
const MOST_ROWS_AT_ONCE = 128;

/**
 * Measures the devices of a run once a second: for the window, for run.db, and once a minute for the run's
 * log.
 */
export class DeviceMonitor {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly devices: () => readonly DeviceTelemetry[];
  private readonly log: DeviceLog;
  private readonly process: BackendProcess<MonitorEvent>;
  private unevennessNoted = false;
  private lastTakenAt = 0;
  private turn = 0;

  constructor(
    context: EngineContext,
    store: RunStore,
    notes: RunNotes,
    devices: () => readonly DeviceTelemetry[],
  ) {
    this.store = store;
    this.notes = notes;
    this.devices = devices;
    this.log = new DeviceLog(
      notes.log,
      (id) => devices().find(({ device }) => device.id === id)?.device.name ?? '',
    );
    const gpus = devices()
      .filter(({ device }) => isGpu(device.local))
      .flatMap(({ device }) => ['--uuid', device.id]);
    this.process = new BackendProcess(
      pythonLaunch(
        context.environment,
        'virnucpro_backend.devices.monitor',
        ['--interval', '1', ...gpus],
        NO_GPU,
      ),
      join(store.folder, 'logs', 'monitor.log'),
      monitorEventSchema,
      (event) => {
        // Without a monitor the dashboard shows no measurements; the run doesn't depend on them.
        if (event.type === 'message' && event.message.type === 'sample') this.take(event.message);
      },
    );
  }

  async stop(): Promise<void> {
    this.log.write(Date.now());
    await this.process.stop(STOP_GRACE_MS);
  }

  private take(sample: DeviceSample): void {
    const now = Date.now();
    if (Math.abs(now - this.lastTakenAt) < LEAST_INTERVAL_MS) return;
    this.lastTakenAt = now;
    const devices = this.devices();
    const measured = new Map(sample.devices.map((device) => [device.uuid, device]));
    for (const one of devices) one.measure(measured.get(one.device.id));
    const rows = this.due(devices).map((device) => device.sampleRow(now));
    // Losing a sample does no harm; a full disk is reported by the call that stores scores.
    this.store.addSamples(rows).catch(() => undefined);
    const minuteIsOver = this.log.take(rows, sample, now);
    if (minuteIsOver && !this.unevennessNoted) this.lookForUnevenness();
  }

  /** All devices, or the next ones in turn if there are very many. */
  private due(devices: readonly DeviceTelemetry[]): DeviceTelemetry[] {
    const turns = Math.ceil(devices.length / MOST_ROWS_AT_ONCE);
    this.turn += 1;
    return turns <= 1 ? [...devices] : devices.filter((_, index) => index % turns === this.turn % turns);
  }

  private lookForUnevenness(): void {
    noteImbalance(this.store, this.notes).then(
      (noted) => {
        this.unevennessNoted = noted;
      },
      () => undefined,
    );
  }
}

const INTERVAL_MS = 60_000;

/** How busy the processor was, and how much main memory all programs together used. */
type Computer = Pick<DeviceSample, 'cpu_percent' | 'memory_used_bytes'>;

/**
 * Writes one line per device and minute into the run's log, and one for the computer, which summarise that
 * minute's samples.
 */
export class DeviceLog {
  private readonly log: RunLog;
  private readonly nameOf: (device: string) => string;
  private collected: DeviceSampleRow[] = [];
  private computer: Computer[] = [];
  private since: number | undefined;

  constructor(log: RunLog, nameOf: (device: string) => string) {
    this.log = log;
    this.nameOf = nameOf;
  }

  /** Returns whether lines were written because a minute is over. */
  take(rows: readonly DeviceSampleRow[], computer: Computer, now: number): boolean {
    this.since ??= now;
    this.collected.push(...rows);
    this.computer.push(computer);
    if (now - this.since < INTERVAL_MS) return false;
    this.write(now);
    return true;
  }

  /** Writes the remaining samples when work ends or is interrupted. */
  write(now: number): void {
    const seconds = (now - (this.since ?? now)) / 1000;
    for (const [device, rows] of Map.groupBy(this.collected, (row) => row.device)) {
      const measures = formatMeasures({
        utilizationPercent: mean(rows.map((row) => row.utilizationPercent)),
        memoryBytes: peak(rows.map((row) => row.memoryUsedBytes)),
        powerW: mean(rows.map((row) => row.powerW)),
        residuesPerSecond: speed(rows),
      });
      this.log.line(
        'info',
        `${this.nameOf(device)} (${device}), ${formatDuration(seconds)}: ${measures}`,
        now,
      );
    }
    if (this.computer.length > 0) {
      const measures = formatMeasures({
        utilizationPercent: mean(this.computer.map(({ cpu_percent }) => cpu_percent)),
        memoryBytes: peak(this.computer.map(({ memory_used_bytes }) => memory_used_bytes)),
        powerW: null,
        residuesPerSecond: null,
      });
      this.log.line('info', `The computer, with all its programs: ${measures}`, now);
    }
    this.collected = [];
    this.computer = [];
    this.since = undefined;
  }
}

/** A device that waits for work has no speed, which counts as 0; null if it never had one. */
function speed(rows: readonly DeviceSampleRow[]): number | null {
  const speeds = rows.map((row) => row.residuesPerSecond);
  return speeds.every((value) => value === null) ? null : mean(speeds.map((value) => value ?? 0));
}

function peak(values: readonly (number | null)[]): number | null {
  return Math.max(...values.map((value) => value ?? 0)) || null;
}

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
