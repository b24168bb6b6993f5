import type { DeviceSampleRow } from '../../store/types.ts';
import { formatDuration, formatMeasures } from '../../../contract/terminal/format.ts';
import type { DeviceSample } from '../../../contract/protocol/index.ts';
import type { RunLog } from '../runLog.ts';

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
  private readonly intervalMs: number;
  private collected: DeviceSampleRow[] = [];
  private computer: Computer[] = [];
  private since: number | undefined;

  constructor(log: RunLog, nameOf: (device: string) => string, intervalMs = INTERVAL_MS) {
    this.log = log;
    this.nameOf = nameOf;
    this.intervalMs = intervalMs;
  }

  /** Returns whether lines were written because a minute is over. */
  take(rows: readonly DeviceSampleRow[], computer: Computer, now: number): boolean {
    this.since ??= now;
    this.collected.push(...rows);
    this.computer.push(computer);
    if (now - this.since < this.intervalMs) return false;
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
