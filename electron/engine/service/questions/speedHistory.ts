import { z } from 'zod';
import type { LibraryStore } from '../../store/storeThread.ts';
import type { RunStore } from '../../store/runStore.ts';
import { secondsFor, type SecondsRange, type WorkAhead } from './runSpeeds.ts';

const KEY = 'measured_speeds';
/** A device must have computed for this long before its speed means anything. The example takes little longer on a fast computer. */
const ENOUGH_SECONDS = 0.2;
/**
 * Reading the weights takes between half and one and a half of the earlier time, depending on the disk's
 * cache.
 */
const LEAST_OVERHEAD = 0.5;
const MOST_OVERHEAD = 1.5;
/**
 * Runs stored per device and model, and per model: older measurements come from another driver, or another
 * version.
 */
const REMEMBERED = 12;

const measuredSchema = z.object({
  frames: z.number().positive(),
  residues: z.number().positive(),
  seconds: z.number().positive(),
  measuredAt: z.number(),
});

const speedsSchema = z.object({
  /** By model, precision and device name; the newest last. */
  devices: z.record(z.string(), z.array(measuredSchema)),
  /** By model: seconds from start to end in which no device computed; the newest last. */
  overheadSeconds: z.record(z.string(), z.array(z.number().nonnegative())),
});
type Speeds = z.infer<typeof speedsSchema>;

interface SpeedQuestion extends WorkAhead {
  modelHash: string;
  precision: string;
  deviceNames: readonly string[];
}

interface SpeedAnswer extends SecondsRange {
  measuredAt: number;
  /** Number of runs that it is based on, for the device with the fewest. */
  runs: number;
}

/** This computer's speed in earlier runs. */
export class SpeedHistory {
  private readonly library: LibraryStore;
  private readonly speeds: Speeds;

  private constructor(library: LibraryStore, speeds: Speeds) {
    this.library = library;
    this.speeds = speeds;
  }

  static async open(library: LibraryStore): Promise<SpeedHistory> {
    const stored = speedsSchema.safeParse(await library.setting(KEY));
    return new SpeedHistory(library, stored.success ? stored.data : { devices: {}, overheadSeconds: {} });
  }

  /** Stores what a finished run shows. */
  async learn(store: RunStore): Promise<void> {
    const [run, timings, summaries] = await Promise.all([
      store.loadRun(),
      store.timings(),
      store.deviceSummaries(),
    ]);
    const { plan } = run;
    for (const { device, frames, residues, seconds } of summaries) {
      const name = run.devices.find(({ id }) => id === device)?.name;
      if (name === undefined || seconds < ENOUGH_SECONDS || residues === 0) continue;
      remember(this.speeds.devices, deviceKey(plan.model.hash, plan.precision, name), {
        frames,
        residues,
        seconds,
        measuredAt: timings.lastChangeAt,
      });
    }
    if (run.state.phase === 'done') {
      const busiest = Math.max(0, ...summaries.map(({ seconds }) => seconds));
      const overhead = Math.max(0, timings.workingMilliseconds / 1000 - busiest);
      remember(this.speeds.overheadSeconds, plan.model.hash, overhead);
    }
    await this.library.setSetting(KEY, this.speeds);
  }

  /** Null if a device has no measured speed for this model yet. */
  seconds(question: SpeedQuestion): SpeedAnswer | null {
    const { modelHash, precision, deviceNames } = question;
    // It is not known yet which devices a cluster will provide.
    if (deviceNames.length === 0) return null;
    const measured = deviceNames.map(
      (name) => this.speeds.devices[deviceKey(modelHash, precision, name)] ?? [],
    );
    const computing = secondsFor(question, measured);
    if (!computing) return null;
    const overheads = this.speeds.overheadSeconds[modelHash] ?? [];
    return {
      low: computing.low + LEAST_OVERHEAD * Math.min(...(overheads.length > 0 ? overheads : [0])),
      high: computing.high + MOST_OVERHEAD * Math.max(0, ...overheads),
      measuredAt: Math.max(...measured.flat().map(({ measuredAt }) => measuredAt)),
      // Several processors of one name were measured in one run.
      runs: Math.min(...measured.map((list) => new Set(list.map(({ measuredAt }) => measuredAt)).size)),
    };
  }
}

function remember<Value>(lists: Record<string, Value[]>, key: string, value: Value): void {
  lists[key] = [...(lists[key] ?? []), value].slice(-REMEMBERED);
}

function deviceKey(modelHash: string, precision: string, deviceName: string): string {
  return `${modelHash} ${precision} ${deviceName}`;
}
