import { appError, AppFailure } from '../../contract/errors.ts';
import { placementSchema } from '../../contract/protocol/index.ts';
import type { DeviceLive, RunEvent, RunLive, RunSummary } from '../../contract/rpc/runs.ts';
import { runProgress } from '../runs/runProgress.ts';
import type { RunSession } from '../runs/runSession.ts';
import { isActive } from '../runs/runTransitions.ts';
import type { NumberedRunEvent } from '../store/eventPages.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { phaseWords } from './phaseWords.ts';
import { LiveTopic } from './liveTopic.ts';
import type { OpenRuns } from './openRuns.ts';
import type { RunCatalog } from './runCatalog.ts';

const INTERVAL_MS = 250;
const RECENT_EVENTS = 50;
/** A note shows in the database a moment after it was told. */
const EVENTS_SETTLE_MS = 1_500;
/** How often a run is looked at that another program works on. */
const ELSEWHERE_MS = 2_000;

interface Watched {
  topic: LiveTopic<RunLive>;
  events: RunEvent[];
  eventsMayChangeUntil: number;
}

/** What dashboards see: a whole snapshot of one run at most four times a second, made once for all who watch. */
export class RunWatch {
  private readonly open: OpenRuns;
  private readonly catalog: RunCatalog;
  /** Adds the place in the queue. */
  private readonly placed: (summary: RunSummary) => RunSummary;
  private readonly watched = new Map<string, Watched>();

  constructor(open: OpenRuns, catalog: RunCatalog, placed: (summary: RunSummary) => RunSummary) {
    this.open = open;
    this.catalog = catalog;
    this.placed = placed;
  }

  watch(runId: string, signal?: AbortSignal): AsyncGenerator<RunLive, void> {
    this.catalog.find(runId);
    return this.of(runId).topic.watch(signal);
  }

  changed(runId: string): void {
    const watched = this.watched.get(runId);
    if (!watched) return;
    watched.eventsMayChangeUntil = performance.now() + EVENTS_SETTLE_MS;
    watched.topic.changed();
  }

  forget(runId: string): void {
    this.watched.delete(runId);
  }

  private of(runId: string): Watched {
    const known = this.watched.get(runId);
    if (known) return known;
    const topic = new LiveTopic({
      take: () => this.take(runId, watched),
      intervalMs: () => (this.isElsewhere(runId) ? ELSEWHERE_MS : INTERVAL_MS),
      polls: () => this.isAtWork(runId) || performance.now() < watched.eventsMayChangeUntil,
    });
    const watched: Watched = { topic, events: [], eventsMayChangeUntil: Number.POSITIVE_INFINITY };
    this.watched.set(runId, watched);
    return watched;
  }

  private isAtWork(runId: string): boolean {
    const { state, interrupted, missing } = this.catalog.find(runId);
    return isActive(state) && !interrupted && !missing;
  }

  private isElsewhere(runId: string): boolean {
    return this.isAtWork(runId) && !this.open.session(this.catalog.folder(runId));
  }

  private async take(runId: string, watched: Watched): Promise<RunLive> {
    const run = this.isElsewhere(runId) ? await this.catalog.refresh(runId) : this.catalog.find(runId);
    if (run.missing) {
      throw new AppFailure(appError('folder_gone', `${run.folder} is not to be found.`));
    }
    if (performance.now() < watched.eventsMayChangeUntil) {
      watched.events = await this.open.read(run.folder, async (store) =>
        (await store.pageEvents(RECENT_EVENTS)).map(toRunEvent),
      );
      if (watched.eventsMayChangeUntil === Number.POSITIVE_INFINITY) watched.eventsMayChangeUntil = 0;
    }
    const session = this.open.session(run.folder);
    const live = session ? liveFacts(session) : await this.open.read(run.folder, storedFacts);
    return { run: this.placed({ ...run, fraction: live.progress.fraction ?? run.fraction }), ...live, recentEvents: watched.events }; // prettier-ignore
  }
}

type Facts = Pick<RunLive, 'progress' | 'devices'>;

function liveFacts(session: RunSession): Facts {
  const progress = session.progress();
  // Whole seconds: a snapshot that differs in nothing else isn't worth sending.
  return {
    progress: { ...progress, elapsedSeconds: Math.floor(progress.elapsedSeconds) },
    devices: session.deviceStates(),
  };
}

/** Of a run that nobody works on here: what its database says. */
async function storedFacts(store: RunStore): Promise<Facts> {
  const [run, timings, summaries, inputs] = await Promise.all([
    store.loadRun(),
    store.timings(),
    store.deviceSummaries(),
    store.inputProgress(),
  ]);
  const devices = run.devices.map((device): DeviceLive => {
    const done = summaries.find((summary) => summary.device === device.id);
    const { index, memoryTotalBytes, tokensPerBatch, placement } = device.facts;
    return {
      id: device.id,
      name: device.name,
      index: typeof index === 'number' ? index : null,
      worker: device.switchedOff
        ? { state: 'switched_off', error: device.switchedOff }
        : { state: 'stopped' },
      shardFraction: null,
      shardsDone: done?.parts ?? 0,
      residuesDone: done?.residues ?? 0,
      tokensPerSecond: null,
      framesPerSecond: null,
      tokensPerBatch: typeof tokensPerBatch === 'number' ? tokensPerBatch : null,
      placement: placementSchema.safeParse(placement).data ?? null,
      utilizationPercent: null,
      memoryUsedBytes: null,
      memoryTotalBytes: typeof memoryTotalBytes === 'number' ? memoryTotalBytes : null,
      temperatureC: null,
      powerW: null,
    };
  });
  const progress = runProgress({
    run,
    counts: run.counts,
    inputs,
    prepare: null,
    prepareFinished: run.prepared !== null,
    residuesInWork: 0,
    shardsInWork: run.counts.shards.assigned,
    elapsedSeconds: Math.floor(timings.workingMilliseconds / 1000),
    tokensPerSecond: null,
  });
  return { progress, devices };
}

export function toRunEvent(event: NumberedRunEvent): RunEvent {
  return {
    id: event.id,
    time: new Date(event.time).toISOString(),
    level: event.level === 'debug' ? 'info' : event.level,
    code: event.code,
    message: event.code === 'phase' ? phaseWords(event.message) : event.message,
    detail: event.detail,
  };
}
