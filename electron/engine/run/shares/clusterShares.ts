import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, AppFailure, asAppError, type AppError } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { ClusterChoice } from '../../../contract/cluster.ts';
import type { ClusterLive, DeviceLive } from '../../../contract/rpc/runs.ts';
import { quotedForShell } from '../../../contract/terminal/predictCommand.ts';
import type { EngineContext } from '../../engineContext.ts';
import { pathInRun, replaceInRun } from '../../files/runFiles.ts';
import { runLockHolder } from '../../store/runFolder.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { partsByShare, shareFolder, shareName, type Share, type SharePart } from '../../store/shares.ts';
import type { RunNotes } from '../runNotes.ts';
import { listForShares, mergeShare, mergeShares } from './mergeShares.ts';
import { RayScheduler } from './ray.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import {
  readShareStatuses,
  sumOfWork,
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
/** A failure that lasts longer than this is not temporary. */
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
  fruitlessEnds: number;
  /** Counts for tasks that were requeued by SLURM or by their script. */
  lives: { fruitless: number; partsDone: number };
  status: ShareStatus | null;
  task: ShareTask | null;
}

/** How much was merged from a share. */
type Taken = 'finished' | 'at_work' | 'some' | 'nothing';

/** Computes the parts of a run as shares on a cluster: submits and follows them, and merges their results. */
export class ClusterShares {
  private readonly options: ClusterSharesOptions;
  private readonly scheduler: Scheduler;
  private readonly open = new Map<number, OpenShare>();
  private readonly endsOnNode = new Map<string, number>();
  private readonly excluded = new Set<string>();
  /** Shares without a running task, for which none could be submitted yet. */
  private readonly unsubmitted = new Set<number>();
  /** When each possibly temporary failure began. */
  private readonly failing = new Map<string, number>();
  private readonly ending = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private state: ClusterLive['state'] = 'connecting';
  private version: string | null = null;
  /** Whether the tasks of an earlier start, which may be computing, are still unknown. */
  private isUnreached = false;
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
      this.isUnreached = this.state === 'connecting';
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
    await this.scheduler.close();
    await mergeShares(this.options.store, this.options.notes).catch(() => undefined);
    this.state = 'ended';
  }

  live(): ClusterLive {
    const waiting = [...this.open.values()].filter(({ task }) => task?.state !== 'running');
    const [first] = waiting;
    return {
      kind: this.options.cluster.kind,
      state: this.state,
      version: this.version,
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
    return sumOfWork(
      [...this.open.values()].map(({ status, waiting }) => workElsewhere(waiting.values(), status)),
    );
  }

  private isEnding(): boolean {
    return this.ending.signal.aborted;
  }

  private async cancel(): Promise<void> {
    const { job } = this.scheduler;
    try {
      if (!this.isUnreached) {
        await this.scheduler.cancel();
        return;
      }
    } catch {
      // Reported below, and known to the next start.
    }
    if (job !== null && (this.open.size > 0 || this.isUnreached))
      this.options.notes.add('warning', 'jobs_left', message('note.jobs_left', { job }));
  }

  private areAnyAtWork(): boolean {
    const { folder } = this.options.store;
    return [...this.open.values()].some(
      ({ share }) => runLockHolder(join(folder, shareFolder(share))) !== null,
    );
  }

  private async follow(): Promise<void> {
    this.version = await this.scheduler.open();
    this.state = 'open';
    this.options.notes.add(
      'info',
      'cluster_ready',
      message('note.cluster_ready', { scheduler: this.version }),
    );
    await this.divide();
    // Tasks of an earlier start are followed; the first look finds those that have ended.
    const known = await this.tasksOfEarlier();
    if (known === null) return;
    for (const task of known) this.note(task);
    for (const index of this.open.keys())
      if (!known.some(({ share }) => share === index)) this.unsubmitted.add(index);
    await (known.length === 0 ? this.submit() : this.attempt('submit', () => this.submit()));
    for (let look = 0; !this.isEnding(); look++) {
      await this.look(look % LOOKS_PER_QUESTION === 0);
      await this.pause();
    }
  }

  private async pause(): Promise<void> {
    const { lookEveryMs = LOOK_EVERY_MS } = this.options;
    await sleep(lookEveryMs, undefined, { signal: this.ending.signal }).catch(() => undefined);
  }

  /**
   * Asks until there is an answer: if a missing answer were taken for no tasks, all would be submitted twice.
   * Null if the run ends first.
   */
  private async tasksOfEarlier(): Promise<ShareTask[] | null> {
    while (!this.isEnding()) {
      const known = await this.scheduler.tasks(new Map());
      if (known !== null) return known;
      for (let look = 0; look < LOOKS_PER_QUESTION; look++) await this.pause();
    }
    return null;
  }

  /** Divides the parts that still wait among the shares. */
  private async divide(): Promise<void> {
    const { store, cluster } = this.options;
    this.open.clear();
    const parts = partsByShare(await store.shareParts(), cluster.shares);
    for (const [index, own] of [...parts].toSorted(([a], [b]) => a - b))
      this.open.set(index, {
        share: { index, of: cluster.shares },
        waiting: new Map(own.map((part) => [part.key, part])),
        fruitlessEnds: 0,
        lives: { fruitless: 0, partsDone: 0 },
        status: null,
        task: null,
      });
  }

  private async submit(): Promise<void> {
    if (this.unsubmitted.size === 0) return;
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
      if (code === 'disk_full') throw reason;
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

  private isAnyRunning(): boolean {
    return [...this.open.values()].some(({ task }) => task?.state === 'running');
  }

  private async look(asksScheduler: boolean): Promise<void> {
    const open = [...this.open.values()];
    const names = open.map(({ share }) => shareName(share));
    const statuses = await readShareStatuses(this.options.store.folder, names);
    for (const one of open) one.status = statuses.get(shareName(one.share)) ?? null;
    const byShare = new Map(open.flatMap(({ share, status }) => (status ? [[share.index, status]] : [])));
    const tasks = asksScheduler ? await this.scheduler.tasks(byShare) : null;
    for (const task of tasks ?? []) this.note(task);
    this.failIfHopeless();
    for (const one of open) {
      if (this.isEnding()) return;
      // The end of a task that has no successor yet was already reported.
      const hasEnded =
        tasks !== null && one.task?.state === 'ended' && !this.unsubmitted.has(one.share.index);
      if (!hasEnded && one.status?.phase !== 'done') continue;
      const taken = await this.attempt(`take ${one.share.index}`, () => this.take(one));
      if (taken !== undefined) this.noteTaken(one, taken, hasEnded);
    }
    if (asksScheduler) await this.attempt('submit', () => this.submit());
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
    if (task.state !== 'ended') this.unsubmitted.delete(task.share);
  }

  private noteTaken(one: OpenShare, taken: Taken, hasEnded: boolean): void {
    if (taken === 'finished') {
      if (one.task?.node) this.endsOnNode.delete(one.task.node);
      this.unsubmitted.delete(one.share.index);
    } else if (one.task && hasEnded && taken !== 'at_work') {
      this.unsubmitted.add(one.share.index);
      this.noteEnd(one, one.task, taken === 'some');
    }
  }

  private async take(one: OpenShare): Promise<Taken> {
    const { store, notes, emit } = this.options;
    const taken = await mergeShare(store, notes, shareName(one.share));
    if (taken === 'at_work') return 'at_work';
    for (const key of taken.keys) one.waiting.delete(key);
    if (taken.finished) this.open.delete(one.share.index);
    if (taken.keys.length > 0) emit({ type: 'shares_merged', keys: taken.keys });
    if (taken.finished) return 'finished';
    return taken.keys.length > 0 ? 'some' : 'nothing';
  }

  /**
   * Reports a task that ended before its share: the share, the node, the reason, and what is done about it.
   */
  private noteEnd(one: OpenShare, { node, reason }: ShareTask, hasComputed: boolean): void {
    const { notes } = this.options;
    const { index, of } = one.share;
    const cause = one.status?.error ?? reason;
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
  private noteRequeue({ share, lives, status }: OpenShare): void {
    const done = status?.parts.done ?? 0;
    lives.fruitless = done > lives.partsDone ? 0 : lives.fruitless + 1;
    lives.partsDone = Math.max(done, lives.partsDone);
    if (lives.fruitless < REPORTED_FRUITLESS_LIVES) return;
    const named = { share: `${share.index}/${share.of}`, times: lives.fruitless };
    if (lives.fruitless === REPORTED_FRUITLESS_LIVES)
      this.options.notes.add('warning', 'share_fruitless', message('note.share_fruitless', named));
    if (lives.fruitless >= MOST_FRUITLESS_LIVES && !this.isAnyRunning())
      throw failure(message('note.share_fruitless', named));
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
    if (!first || !tasks.every((task) => task.hopeless)) return;
    const { reason } = first;
    throw failure(message('cluster.hopeless', { reason }), { nextStep: message('cluster.hopeless.next') });
  }

  private failIfWaitedTooLong(): void {
    const { maxWaitMs } = this.options;
    const now = performance.now();
    if (this.open.size === 0 || this.isAnyRunning()) this.lastAtWork = now;
    if (maxWaitMs === undefined || now - this.lastAtWork < maxWaitMs) return;
    const minutes = Math.round(maxWaitMs / 60_000);
    const reason = [...this.open.values()].find(({ task }) => task)?.task?.reason ?? '';
    throw failure(message('cluster.waited', { minutes, reason }), {
      nextStep: message('cluster.waited.next'),
    });
  }
}

const failure = (cause: Message, more: Parameters<typeof appError>[2] = {}): AppFailure =>
  new AppFailure(appError('cluster_failed', cause, more));

/**
 * Writes into the run's folder a file that starts this very program on a node, with the same settings and the
 * same Python. It is rewritten before each use, so that no file already in the folder is ever run. Null for
 * the desktop app, which nodes cannot start: they need their own `virnucpro`.
 */
function writeOwnProgram(folder: string, { environment }: EngineContext): string | null {
  const [, script] = process.argv;
  if ('electron' in process.versions || script === undefined) return null;
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
