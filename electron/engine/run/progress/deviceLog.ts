import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import type { DeviceSampleRow } from '../../store/types.ts';
import { formatDuration, formatMeasures } from '../../format/format.ts';
import type { RunLog } from '../runLog.ts';

const INTERVAL_MS = 60_000;

/** Writes a line per device and minute into the run's log: what the samples of that minute come to. */
export class DeviceLog {
  private readonly log: RunLog;
  private readonly names: ReadonlyMap<string, string>;
  private readonly intervalMs: number;
  private collected: DeviceSampleRow[] = [];
  private since: number | undefined;

  constructor(log: RunLog, devices: readonly ChosenDevice[], intervalMs = INTERVAL_MS) {
    this.log = log;
    this.names = new Map(devices.map(({ id, name }) => [id, name]));
    this.intervalMs = intervalMs;
  }

  /** Whether lines were written: a minute is over. */
  take(rows: readonly DeviceSampleRow[], now: number): boolean {
    this.since ??= now;
    this.collected.push(...rows);
    if (now - this.since < this.intervalMs) return false;
    this.write(now);
    return true;
  }

  /** Writes what there is: work ends, or is interrupted. */
  write(now: number): void {
    const seconds = (now - (this.since ?? now)) / 1000;
    for (const [device, rows] of Map.groupBy(this.collected, (row) => row.device)) {
      const measures = formatMeasures({
        utilizationPercent: mean(rows.map((row) => row.utilizationPercent)),
        memoryBytes: Math.max(...rows.map((row) => row.memoryUsedBytes ?? 0)) || null,
        powerW: mean(rows.map((row) => row.powerW)),
        residuesPerSecond: speed(rows),
      });
      this.log.line(
        'info',
        `${this.names.get(device) ?? ''} (${device}), ${formatDuration(seconds)}: ${measures}`,
        now,
      );
    }
    this.collected = [];
    this.since = undefined;
  }
}

/** While a device waits for work it has no speed, which counts as 0; null where it never had one. */
function speed(rows: readonly DeviceSampleRow[]): number | null {
  const speeds = rows.map((row) => row.residuesPerSecond);
  return speeds.every((value) => value === null) ? null : mean(speeds.map((value) => value ?? 0));
}

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
