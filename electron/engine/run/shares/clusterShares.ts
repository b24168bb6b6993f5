import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type appError,
  appFailure,
  asAppError,
  type AppError,
  type ErrorCode,
  type AppFailure,
} from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { ClusterChoice } from '../../../contract/cluster.ts';
import type { ClusterLive, DeviceLive } from '../../../contract/rpc/runs.ts';
import { quotedForShell } from '../../../contract/terminal/predictCommand.ts';
import type { EngineContext } from '../../engineContext.ts';
import { pathInRun, replaceInRun } from '../../system/runFiles.ts';
import { runLockHolder } from '../../store/runFolder.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { ShareMerged } from '../../store/types.ts';
import { partsByShare, shareFolder, shareName, type Share, type SharePart } from '../../store/shares.ts';
import { isProgramForNodes } from '../begin/clusterPlan.ts';
import type { RunNotes } from '../runNotes.ts';
import { listForShares, mergeShare, mergeShares } from './mergeShares.ts';
import { RayScheduler } from './ray.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import {
  isSilent,
  readShareStatuses,
  workElsewhere,
  type ShareStatus,
  type WorkElsewhere,
} from './shareStatus.ts';
import { SlurmScheduler } from './slurm.ts';

const PROGRAM = 'work/virnucpro';
const EXECUTABLE = 0o755;

const LOOK_EVERY_MS = 3_000;
/** The scheduler is asked less often than the folder is read, because administrators count such calls. */
const LOOKS_PER_QUESTION = 5;
/** How often a share may end without a new part before the run is paused. */
const MOST_FRUITLESS_ENDS = 3;
/** How many times in a row shares may end without a new part on one node before it is excluded. */
const MOST_ENDS_ON_NODE = 2;
/**
 * How often SLURM may requeue a task without a new part before this is reported, and before the run is
 * paused.
 */
const REPORTED_FRUITLESS_LIVES = 3;
const MOST_FRUITLESS_LIVES = 6;
/** Failures that no waiting ends, and others that last longer than this. */
const LASTING: ReadonlySet<ErrorCode> = new Set(['disk_full', 'cluster_lost']);
const PASSES_WITHIN_MS = 10 * 60_000;
const END_WAIT_MS = 20_000;
const LAST_OUTPUT = 300;

export type ClusterSharesEvent =
  { type: 'shares_merged'; keys: readonly string[] } | { type: 'shares_failed'; error: AppError };

interface ClusterSharesOptions {
  context: EngineContext;
  store: RunStore;
  notes: RunNotes;
  runId: string;
  cluster: ClusterChoice;
  /** Without a running task for this long, the run is paused. */
  maxWaitMs: number | undefined;
  emit: (event: ClusterSharesEvent) => void;
  lookEveryMs?: number;
}

/** A share that is not yet completely computed. */
interface OpenShare {
  readonly share: Share;
  /** Its parts that wait in the run's database, by key. */
  readonly waiting: Map<string, SharePart>;
  /** How often its task ended, and was queued again by SLURM or by its script, since its last new part. */
  fruitlessEnds: number;
  fruitlessLives: number;
  partsDone: number;
  status: ShareStatus | null;
  task: ShareTask | null;
}

/** Computes the parts of a run as shares on a cluster: submits and follows them, and merges their results. */
export class ClusterShares {
  private readonly options: ClusterSharesOptions;
  private readonly scheduler: Scheduler;
  private readonly open = new Map<number, OpenShare>();
  private readonly endsOnNode = new Map<string, number>();
  private readonly excluded = new Set<string>();
  /** Shares without a task, for which none could be submitted yet; null until the scheduler has said which those are. */
  private unsubmitted: Set<number> | null = null;
  /** When each possibly temporary failure began. */
  private readonly failing = new Map<string, number>();
  private readonly ending = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private state: ClusterLive['state'] = 'connecting';
  private lastAtWork = performance.now();

  constructor(options: ClusterSharesOptions) {
    const { context, store, cluster, runId } = options;
    this.options = options;
    const { folder } = store;
    const program = writeOwnProgram(folder, context);
    const run = { context, folder, runId, program };
    this.scheduler =
      cluster.kind === 'slurm' ? new SlurmScheduler(cluster, run) : new RayScheduler(cluster, run);
  }

  start(): void {
    this.following = this.follow().catch((reason: unknown) => {
      this.state = 'ended';
      if (!this.isEnding()) this.options.emit({ type: 'shares_failed', error: asAppError(reason) });
    });
  }

  /**
   * Ends all tasks and merges what they have computed. Results that a task finishes later are merged at the
   * next start.
   */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.following;
    await this.cancel();
    const deadline = performance.now() + END_WAIT_MS;
    while (this.open.size > 0 && performance.now() < deadline && this.areAnyAtWork()) await sleep(500);
    await mergeShares(this.options.store, this.options.notes).catch(() => undefined);
    this.state = 'ended';
  }

  live(): ClusterLive {
    const waiting = [...this.open.values()].filter(({ task }) => task?.state !== 'running');
    const [first] = waiting;
    return {
      kind: this.options.cluster.kind,
      state: this.state,
      job: this.scheduler.job,
      waiting: waiting.length,
      reason: first?.task?.reason ?? null,
    };
  }

  devices(): DeviceLive[] {
    return [...this.open.values()].flatMap(({ status, task }) =>
      task?.state === 'running' ? (status?.devices ?? []) : [],
    );
  }

  get workElsewhere(): WorkElsewhere {
    return workElsewhere([...this.open.values()].map(({ status, waiting }) => [status, waiting.values()]));
  }

  private isEnding(): boolean {
    return this.ending.signal.aborted;
  }

  private async cancel(): Promise<void> {
    const { job } = this.scheduler;
    try {
      await this.scheduler.cancel();
    } catch {
      // The next start knows the jobs.
      if (job !== null && this.open.size > 0)
        this.options.notes.add('warning', 'jobs_left', message('note.jobs_left', { job }));
    }
  }

  private areAnyAtWork(): boolean {
    const { folder } = this.options.store;
    return [...this.open.values()].some(
      ({ share }) => runLockHolder(join(folder, shareFolder(share))) !== null,
    );
  }

  private async follow(): Promise<void> {
    const { notes, lookEveryMs = LOOK_EVERY_MS } = this.options;
    const scheduler = await this.scheduler.open();
    this.state = 'open';
    notes.add('info', 'cluster_ready', message('note.cluster_ready', { scheduler }));
    await this.divide();
    for (let look = 0; !this.isEnding(); look++) {
      await this.look(look % LOOKS_PER_QUESTION === 0);
      await sleep(lookEveryMs, undefined, { signal: this.ending.signal }).catch(() => undefined);
    }
  }

  /** Divides the parts that still wait among the shares. */
  private async divide(): Promise<void> {
    const { store, cluster } = this.options;
    const parts = partsByShare(await store.shareParts(), cluster.shares);
    for (const [index, own] of [...parts].toSorted(([a], [b]) => a - b))
      this.open.set(index, {
        share: { index, of: cluster.shares },
        waiting: new Map(own.map((part) => [part.key, part])),
        ...{ fruitlessEnds: 0, fruitlessLives: 0, partsDone: 0 },
        status: null,
        task: null,
      });
  }

  private async submit(): Promise<void> {
    if (!this.unsubmitted?.size) return;
    const shares = [...this.unsubmitted];
    await listForShares(this.options.store);
    await this.scheduler.submit(shares, [...this.excluded]);
    this.unsubmitted.clear();
  }

  /**
   * Runs an operation that may fail temporarily, for example because a scheduler or a network disk does not
   * respond, and leaves a failure to the next look: ending the run for one such fault would end all running
   * tasks. Undefined if it failed.
   */
  private async attempt<Done>(what: string, work: () => Promise<Done>): Promise<Done | undefined> {
    try {
      const done = await work();
      this.failing.delete(what);
      return done;
    } catch (reason) {
      const { code, cause } = asAppError(reason);
      if (LASTING.has(code)) throw reason;
      const now = performance.now();
      const since = this.failing.get(what) ?? now;
      if (!this.failing.has(what))
        this.options.notes.add(
          'warning',
          'cluster_passing',
          message('note.cluster_passing', { text: cause }),
        );
      this.failing.set(what, since);
      if (now - since >= PASSES_WITHIN_MS && !this.isAnyRunning()) throw reason;
      return undefined;
    }
  }

  /** Until the scheduler has answered, the shares' own statuses say it. */
  private isAnyRunning(): boolean {
    return [...this.open.values()].some(({ task, status }) =>
      task ? task.state === 'running' : status !== null && !isSilent(status),
    );
  }

  private async look(asksScheduler: boolean): Promise<void> {
    const open = [...this.open.values()];
    const names = open.map(({ share }) => shareName(share));
    const statuses = await readShareStatuses(this.options.store.folder, names);
    for (const one of open) one.status = statuses.get(shareName(one.share)) ?? null;
    const byShare = new Map(open.flatMap(({ share, status }) => (status ? [[share.index, status]] : [])));
    const tasks = asksScheduler ? await this.attempt('ask', () => this.scheduler.tasks(byShare)) : undefined;
    for (const task of tasks ?? []) this.note(task);
    // Tasks of an earlier start are followed. If a missing answer were taken for no tasks, all would be submitted twice.
    if (tasks && this.unsubmitted === null) {
      this.unsubmitted = new Set(open.flatMap(({ share, task }) => (task ? [] : [share.index])));
      if (tasks.length === 0) await this.submit();
    }
    this.failIfHopeless();
    for (const one of open) {
      if (this.isEnding()) return;
      // The end of a task that has no successor yet was already reported.
      const hasEnded = tasks && one.task?.state === 'ended' && !this.unsubmitted?.has(one.share.index);
      if (!hasEnded && one.status?.phase !== 'done') continue;
      const { store, notes } = this.options;
      const name = shareName(one.share);
      const merged = await this.attempt(`merge ${name}`, () => mergeShare(store, notes, name));
      if (merged) this.noteMerged(one, merged, hasEnded === true);
    }
    // Only after an answer, which names also a job that was taken although sbatch had failed.
    if (tasks) await this.attempt('submit', () => this.submit());
    if (this.open.size === 0) await this.failIfPartsAreLeft();
    this.failIfWaitedTooLong();
  }

  /** Records the scheduler's state for the task of a share. */
  private note(task: ShareTask): void {
    const one = this.open.get(task.share);
    if (!one) return;
    const wasRunning = one.task?.state === 'running';
    one.task = task;
    if (wasRunning && task.state === 'waiting') this.noteRequeue(one);
    // SLURM may have taken a job although sbatch gave no answer.
    if (task.state !== 'ended') this.unsubmitted?.delete(task.share);
  }

  private noteMerged(one: OpenShare, { keys, finished }: ShareMerged, hasEnded: boolean): void {
    const { share, task, waiting } = one;
    for (const key of keys) waiting.delete(key);
    if (keys.length > 0) this.options.emit({ type: 'shares_merged', keys });
    if (finished) {
      this.open.delete(share.index);
      this.unsubmitted?.delete(share.index);
      if (task?.node) this.endsOnNode.delete(task.node);
    } else if (task && hasEnded) {
      this.unsubmitted?.add(share.index);
      this.noteEnd(one, task, keys.length > 0);
    }
  }

  /**
   * Reports a task that ended before its share: the share, the node, the reason, and what is done about it.
   */
  private noteEnd(one: OpenShare, { node, reason }: ShareTask, hasComputed: boolean): void {
    const { notes } = this.options;
    const { index, of } = one.share;
    const cause = one.status?.error ?? reason ?? '';
    const where = node ?? one.status?.node ?? '?';
    one.fruitlessEnds = hasComputed ? 0 : one.fruitlessEnds + 1;
    const named = { share: `${index}/${of}`, node: where, reason: cause };
    const detail = this.scheduler.lastOutput(index)?.slice(-LAST_OUTPUT);
    notes.add('warning', 'share_ended', message('note.share_ended', named), detail);
    if (one.fruitlessEnds >= MOST_FRUITLESS_ENDS)
      throw failure(message('cluster.gave_up', { ...named, times: one.fruitlessEnds }), { detail });
    const ends = hasComputed ? 0 : (this.endsOnNode.get(where) ?? 0) + 1;
    this.endsOnNode.set(where, ends);
    if (this.scheduler.excludes && node !== null && ends === MOST_ENDS_ON_NODE) {
      this.excluded.add(node);
      notes.add('warning', 'node_excluded', message('note.node_excluded', { node, times: ends }));
    }
  }

  /**
   * Handles a requeued task, whose time ended or whose place another job took. A task that never gets as far
   * as a part would be requeued for ever.
   */
  private noteRequeue(one: OpenShare): void {
    const { share, status, partsDone } = one;
    const done = status?.parts.done ?? 0;
    one.fruitlessLives = done > partsDone ? 0 : one.fruitlessLives + 1;
    one.partsDone = Math.max(done, partsDone);
    const times = one.fruitlessLives;
    const cause = message('note.share_fruitless', { share: `${share.index}/${share.of}`, times });
    if (times === REPORTED_FRUITLESS_LIVES) this.options.notes.add('warning', 'share_fruitless', cause);
    if (times >= MOST_FRUITLESS_LIVES && !this.isAnyRunning()) throw failure(cause);
  }

  /** Damaged parts of shares that are merged still wait; the next start computes them again. */
  private async failIfPartsAreLeft(): Promise<void> {
    const { length } = await this.options.store.shareParts();
    if (length > 0) throw failure(message('cluster.parts_left', { parts: length }));
  }

  /** If some tasks can never start while others run or may run, those others continue. */
  private failIfHopeless(): void {
    const tasks = [...this.open.values()].flatMap(({ task }) => task ?? []);
    const [first] = tasks;
    if (!first || !tasks.every(({ state }) => state === 'hopeless')) return;
    throw failure(message('cluster.hopeless', { reason: first.reason ?? '' }));
  }

  private failIfWaitedTooLong(): void {
    const { maxWaitMs } = this.options;
    const now = performance.now();
    if (this.open.size === 0 || this.isAnyRunning()) this.lastAtWork = now;
    if (maxWaitMs === undefined || now - this.lastAtWork < maxWaitMs) return;
    const minutes = Math.round(maxWaitMs / 60_000);
    const reason = [...this.open.values()].find(({ task }) => task)?.task?.reason ?? '';
    throw failure(message('cluster.waited', { minutes, reason }));
  }
}

const failure = (cause: Message, more: Parameters<typeof appError>[2] = {}): AppFailure =>
  appFailure('cluster_failed', cause, more);

/**
 * Writes into the run's folder a file that starts this very program on a node, with the same settings and the
 * same Python. It is rewritten before each use, so that no file already in the folder is ever run. Null for
 * the desktop app, which nodes cannot start: they need their own `virnucpro`.
 */
function writeOwnProgram(folder: string, { environment }: EngineContext): string | null {
  if (!isProgramForNodes()) return null;
  const [, script = ''] = process.argv;
  const own = Object.entries(process.env).flatMap(([name, value = '']) =>
    name.startsWith('VIRNUCPRO_') ? [[name, value] as const] : [],
  );
  const settings = { ...Object.fromEntries(own), VIRNUCPRO_PYTHON: environment.interpreter };
  const command = [process.execPath, ...process.execArgv, script].map(quotedForShell).join(' ');
  const lines = [
    '#!/bin/sh',
    ...Object.entries(settings).map(([name, value]) => `export ${name}=${quotedForShell(value)}`),
    `exec ${command} "$@"`,
  ];
  replaceInRun(folder, PROGRAM, Buffer.from(`${lines.join('\n')}\n`));
  const path = pathInRun(folder, PROGRAM);
  chmodSync(path, EXECUTABLE);
  return path;
}
