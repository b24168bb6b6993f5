import { z } from 'zod';
import type { Plan } from '../../../contract/plan.ts';
import type { LibraryStore } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

const KEY = 'speeds';
/** A device must have computed for this long before its speed means anything. */
const ENOUGH_SECONDS = 1;

const speedsSchema = z.object({
  /** By model, precision and device name. */
  devices: z.record(
    z.string(),
    z.object({ residuesPerSecond: z.number().positive(), measuredAt: z.number() }),
  ),
  /** By model: time from start to end in which no device computed. */
  overheadSeconds: z.record(z.string(), z.number().nonnegative()),
  /** By chunk length: residues found per base of input. */
  yield: z.record(z.string(), z.object({ residues: z.number(), bases: z.number() })),
});
type Speeds = z.infer<typeof speedsSchema>;

export interface SpeedQuestion {
  modelHash: string;
  precision: string;
  chunkLength: number;
  deviceNames: readonly string[];
  bases: number;
}

export interface SpeedAnswer {
  seconds: number;
  measuredAt: number;
}

/** Without any run to learn from: between one and two open frames of six in coding sequence, fewer elsewhere. */
const ORDINARY_RESIDUES_PER_BASE = 0.5;

/** How fast this computer was in earlier runs. */
export class SpeedHistory {
  private readonly library: LibraryStore;
  private speeds: Speeds;

  private constructor(library: LibraryStore, speeds: Speeds) {
    this.library = library;
    this.speeds = speeds;
  }

  static async open(library: LibraryStore): Promise<SpeedHistory> {
    const stored = speedsSchema.safeParse(await library.setting(KEY));
    return new SpeedHistory(
      library,
      stored.success ? stored.data : { devices: {}, overheadSeconds: {}, yield: {} },
    );
  }

  /** Takes in what a run that has come to rest shows. */
  async learn(store: RunStore): Promise<void> {
    const [run, timings, summaries] = await Promise.all([
      store.loadRun(),
      store.timings(),
      store.deviceSummaries(),
    ]);
    const { plan } = run;
    for (const { device, residues, seconds } of summaries) {
      const name = run.devices.find(({ id }) => id === device)?.name;
      if (name === undefined || seconds < ENOUGH_SECONDS || residues === 0) continue;
      this.speeds.devices[deviceKey(plan.model.hash, plan.precision, name)] = {
        residuesPerSecond: residues / seconds,
        measuredAt: timings.lastChangeAt,
      };
    }
    if (run.state.phase === 'done') this.learnFromWhole(plan, run.inputs, run.counts.residues.total, timings.workingMilliseconds, summaries); // prettier-ignore
    await this.library.setSetting(KEY, this.speeds);
  }

  /** Residues per base of input at this chunk length, as far as this computer has seen. */
  residuesPerBase(chunkLength: number): number {
    const seen = this.speeds.yield[String(chunkLength)];
    return seen && seen.bases > 0 ? seen.residues / seen.bases : ORDINARY_RESIDUES_PER_BASE;
  }

  /** Null where a device has no measured speed for this model yet. */
  seconds(question: SpeedQuestion): SpeedAnswer | null {
    const { modelHash, precision, chunkLength, deviceNames, bases } = question;
    let residuesPerSecond = 0;
    let measuredAt = 0;
    for (const name of deviceNames) {
      const speed = this.speeds.devices[deviceKey(modelHash, precision, name)];
      if (!speed) return null;
      residuesPerSecond += speed.residuesPerSecond;
      measuredAt = Math.max(measuredAt, speed.measuredAt);
    }
    if (residuesPerSecond === 0) return null;
    const work = (bases * this.residuesPerBase(chunkLength)) / residuesPerSecond;
    return { seconds: work + (this.speeds.overheadSeconds[modelHash] ?? 0), measuredAt };
  }

  private learnFromWhole(
    plan: Plan,
    inputs: readonly { prepared: { bases: number } | null }[],
    residues: number,
    workingMilliseconds: number,
    summaries: readonly { seconds: number }[],
  ): void {
    const bases = inputs.reduce((sum, input) => sum + (input.prepared?.bases ?? 0), 0);
    const seen = this.speeds.yield[String(plan.chunkLength)] ?? { residues: 0, bases: 0 };
    this.speeds.yield[String(plan.chunkLength)] = {
      residues: seen.residues + residues,
      bases: seen.bases + bases,
    };
    const busiest = Math.max(0, ...summaries.map(({ seconds }) => seconds));
    this.speeds.overheadSeconds[plan.model.hash] = Math.max(0, workingMilliseconds / 1000 - busiest);
  }
}

function deviceKey(modelHash: string, precision: string, deviceName: string): string {
  return `${modelHash} ${precision} ${deviceName}`;
}
