import { isAtWork, type RunPhase } from '../../../contract/runState.ts';
import { appFailure } from '../../../contract/errors.ts';
import { message, MESSAGES, type Message } from '../../../contract/messages.ts';
import type { RunEvent, RunLive, RunSummary } from '../../../contract/rpc/runs.ts';
import type { OpenRun } from '../../run/openRun.ts';
import { LiveTopic } from '../changes.ts';
import type { OpenRuns } from './openRuns.ts';
import type { RunCatalog } from './runCatalog.ts';
import { storedFacts, type LiveFacts } from './storedFacts.ts';
import type { NumberedRunEvent } from '../../store/sqlite/telemetry/telemetry.ts';

const INTERVAL_MS = 250;
const RECENT_EVENTS = 50;
/** A note is stored shortly after it is announced. */
const EVENTS_SETTLE_MS = 1_500;
/** Polling interval for runs that another process computes. */
const ELSEWHERE_MS = 2_000;

interface Watched {
  topic: LiveTopic<RunLive>;
  events: RunEvent[];
  eventsMayChangeUntil: number;
}

/**
 * Snapshots for dashboards: a full one of one run at most four times a second, taken once for all watchers.
 */
export class RunWatch {
  private readonly open: OpenRuns;
  private readonly catalog: RunCatalog;
  /** Adds the place in the queue. */
  private readonly placed: (summary: RunSummary) => RunSummary;
  private readonly watched = new Map<string, Watched>();
  private closed = false;

  constructor(open: OpenRuns, catalog: RunCatalog, placed: (summary: RunSummary) => RunSummary) {
    this.open = open;
    this.catalog = catalog;
    this.placed = placed;
  }

  watch(runId: string, signal?: AbortSignal): AsyncGenerator<RunLive, void> {
    this.catalog.find(runId);
    return this.follow(runId, signal);
  }

  changed(runId: string): void {
    const watched = this.watched.get(runId);
    if (!watched) return;
    watched.eventsMayChangeUntil = performance.now() + EVENTS_SETTLE_MS;
    watched.topic.changed();
  }

  /** Ends all watching; resolves when no database query is pending. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.watched.values()].map(({ topic }) => topic.close()));
  }

  private async *follow(runId: string, signal?: AbortSignal): AsyncGenerator<RunLive, void> {
    if (this.closed) return;
    const watched = this.of(runId);
    try {
      yield* watched.topic.watch(signal);
    } finally {
      if (!watched.topic.watched && this.watched.get(runId) === watched) this.watched.delete(runId);
    }
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

  /** Excludes a run removed from the list: its snapshot then fails with an error. */
  private isAtWork(runId: string): boolean {
    return this.catalog.has(runId) && isAtWork(this.catalog.find(runId));
  }

  private isElsewhere(runId: string): boolean {
    return this.isAtWork(runId) && !this.open.session(this.catalog.folder(runId));
  }

  private async take(runId: string, watched: Watched): Promise<RunLive> {
    const run = this.isElsewhere(runId) ? await this.catalog.refresh(runId) : this.catalog.find(runId);
    if (run.missing) {
      throw appFailure('folder_gone', message('run.gone', { folder: run.folder }));
    }
    if (performance.now() < watched.eventsMayChangeUntil) {
      watched.events = await this.open.read(run.folder, async (store) =>
        (await store.pageEvents(RECENT_EVENTS)).map(toRunEvent),
      );
      if (watched.eventsMayChangeUntil === Number.POSITIVE_INFINITY) watched.eventsMayChangeUntil = 0;
    }
    const session = this.open.session(run.folder);
    const facts = session ? liveFacts(session) : await this.open.read(run.folder, storedFacts);
    const fraction = facts.progress.fraction ?? run.fraction;
    return { run: this.placed({ ...run, fraction }), ...facts, recentEvents: watched.events };
  }
}

function liveFacts(session: OpenRun): LiveFacts {
  const progress = session.progress();
  // Times are rounded to seconds: a snapshot that differs in nothing else isn't worth sending.
  return {
    progress: { ...progress, elapsedSeconds: Math.round(progress.elapsedSeconds) },
    devices: session.deviceStates(),
    cluster: session.clusterState(),
  };
}

/** An event of a run's database in the form that a window shows. */
export function toRunEvent(event: NumberedRunEvent): RunEvent {
  const phase = event.code === 'phase' ? phaseMessage(event.message) : undefined;
  return {
    id: event.id,
    time: new Date(event.time).toISOString(),
    level: event.level === 'debug' ? 'info' : event.level,
    code: event.code,
    message: phase?.text ?? event.message,
    wording: phase?.wording ?? event.wording ?? null,
    detail: event.detail,
  };
}

/** The sentence for a change of phase, which the database stores as the phase's name only. */
function phaseMessage(phase: string): Message | undefined {
  const key = `phase.${phase}`;
  return Object.hasOwn(MESSAGES, key) ? message(key as `phase.${RunPhase}`) : undefined;
}
