import type { RunSummary, ExpectedWork } from '../../../contract/rpc/runs.ts';
import type { SecondsRange } from '../questions/runSpeeds.ts';
import type { SpeedHistory } from '../questions/speedHistory.ts';
import { LiveTopic } from '../changes.ts';
import type { OpenRuns } from './openRuns.ts';
import type { RunCatalog } from './runCatalog.ts';
import type { RunControl } from './runControl.ts';

const INTERVAL_MS = 500;
/** A smaller change of a fraction isn't worth sending all runs again. */
const FRACTION_STEPS = 200;

/**
 * All runs as windows see them: from the catalog, with their places in the queue, expected starts and
 * progress.
 */
export class RunList {
  private readonly open: OpenRuns;
  private readonly catalog: RunCatalog;
  private readonly control: RunControl;
  private readonly speeds: SpeedHistory;
  readonly topic: LiveTopic<RunSummary[]>;

  constructor(open: OpenRuns, catalog: RunCatalog, control: RunControl, speeds: SpeedHistory) {
    this.open = open;
    this.catalog = catalog;
    this.control = control;
    this.speeds = speeds;
    this.topic = new LiveTopic({
      take: () => {
        const starts = this.starts();
        return catalog.all().map((summary) => this.withFraction(summary, starts));
      },
      intervalMs: INTERVAL_MS,
      polls: () => control.queue.active !== null,
    });
  }

  /** A run with its place in the queue. */
  placed(summary: RunSummary, starts: ReadonlyMap<string, SecondsRange> = this.starts()): RunSummary {
    return {
      ...summary,
      queuePosition: this.control.queue.position(summary.runId),
      starting: this.control.isStarting(summary),
      startsInSeconds: starts.get(summary.runId) ?? null,
    };
  }

  private withFraction(summary: RunSummary, starts: ReadonlyMap<string, SecondsRange>): RunSummary {
    const fraction = this.open.session(summary.folder)?.progress().fraction ?? summary.fraction;
    return {
      ...this.placed(summary, starts),
      fraction: fraction === null ? null : Math.floor(fraction * FRACTION_STEPS) / FRACTION_STEPS,
    };
  }

  /** When each waiting run is expected to start. */
  private starts(): Map<string, SecondsRange> {
    const { open, catalog, control, speeds } = this;
    const { active, order, isHeld } = control.queue;
    if (order.length === 0) return new Map();
    const atWork = active === null ? undefined : catalog.find(active);
    const session = atWork && open.session(atWork.folder);
    const seconds = (run: RunSummary): SecondsRange | null => {
      const left = workLeft(run);
      const { plan } = run;
      return left && speeds.seconds({ modelHash: plan.model.hash, precision: plan.precision, ...left });
    };
    const remaining = (run: RunSummary): SecondsRange | null => {
      const progress = session?.progress();
      // If nothing was computed yet, all the work remains.
      const fraction = progress?.parts.done === 0 ? 0 : (progress?.fraction ?? run.fraction);
      return progress?.remainingSeconds ?? seconds({ ...run, fraction });
    };
    return expectedStarts({
      waiting: order,
      held: isHeld,
      remaining: atWork && remaining(atWork),
      duration: (runId) => seconds(catalog.find(runId)),
    });
  }
}

/**
 * The remaining work of a run; null if its progress is unknown, because its files were not read completely.
 */
export function workLeft({
  expected,
  state,
  fraction,
}: Pick<RunSummary, 'expected' | 'state' | 'fraction'>): ExpectedWork | null {
  const done = state.phase === 'created' ? 0 : fraction;
  if (!expected || done === null) return null;
  const share = Math.max(done, expected.takenOver ?? 0);
  const left = (amount: number): number => Math.round(amount * (1 - share));
  return { ...expected, frames: left(expected.frames), residues: left(expected.residues) };
}

/** The state of the queue at a moment. */
interface QueueOutlook {
  /** Runs in the order in which they will start. */
  waiting: readonly string[];
  /** Whether nothing starts by itself. */
  held: boolean;
  /** The remaining time of the running run; undefined if none is running, null if unknown. */
  remaining: SecondsRange | null | undefined;
  /** The duration of a waiting run, if known. */
  duration: (runId: string) => SecondsRange | null;
}

/** Seconds until each waiting run is expected to start; runs without an estimate are left out. */
export function expectedStarts(queue: QueueOutlook): Map<string, SecondsRange> {
  const starts = new Map<string, SecondsRange>();
  if (queue.held) return starts;
  let until: SecondsRange | null = queue.remaining === undefined ? { low: 0, high: 0 } : queue.remaining;
  for (const runId of queue.waiting) {
    if (until === null) break;
    starts.set(runId, until);
    const duration = queue.duration(runId);
    until = duration && { low: until.low + duration.low, high: until.high + duration.high };
  }
  return starts;
}
