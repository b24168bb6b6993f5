import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appFailure, asAppError, type AppError, type ErrorCode } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { ClusterChoice } from '../../../contract/cluster.ts';
import type { ClusterLive, DeviceLive } from '../../../contract/rpc/runs.ts';
import type { EngineContext } from '../engineContext.ts';
import { runLockHolder } from '../../store/runFolder.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { ShareMerged } from '../../store/types.ts';
import {
  listShares,
  partsByShare,
  shareFolder,
  shareName,
  type Share,
  type SharePart,
} from '../../store/shares.ts';
import type { RunNotes } from '../runNotes.ts';
import { listForShares, mergeShare, mergeShares } from './mergeShares.ts';
import { RayScheduler } from './ray.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import { readShareStatuses, workElsewhere, type ShareStatus, type WorkElsewhere } from './shareStatus.ts';
import { SlurmScheduler } from './slurm.ts';

const LOOK_EVERY_MS = 3_000;
/** The scheduler is asked less often than the folder is read, because administrators count such calls. */
const LOOKS_PER_QUESTION = 5;
/** Failures that no waiting ends. */
const LASTING: ReadonlySet<ErrorCode> = new Set(['disk_full', 'cluster_lost']);
const END_WAIT_MS = 20_000;

export type ClusterSharesEvent =
  { type: 'shares_merged'; keys: readonly string[] } | { type: 'shares_failed'; error: AppError };

interface ClusterSharesOptions {
  context: EngineContext;
  store: RunStore;
  notes: RunNotes;
  runId: string;
  cluster: ClusterChoice;
  emit: (event: ClusterSharesEvent) => void;
  lookEveryMs?: number;
}

/** A share that is not yet completely computed. */
interface OpenShare {
  readonly share: Share;
  /** Its parts that wait in the run's database, by key. */
  readonly waiting: Map<string, SharePart>;
  status: ShareStatus | null;
  task: ShareTask | null;
  /** Its task has ended before it: what had been computed is merged, and the end reported with this reason. */
  endedFor: Message | string | null;
}

/**
 * Computes the parts of a run as shares on a cluster: submits each once, follows them, and merges their
 * results. Starting a task again is the scheduler's business; what has ended for good is submitted by the next
 * start of the run.
 */
export class ClusterShares {
  private readonly options: ClusterSharesOptions;
  private readonly scheduler: Scheduler;
  private readonly open = new Map<number, OpenShare>();
  /** Shares that could not be submitted yet; null until the scheduler has said which have a task already. */
  private unsubmitted: Set<number> | null = null;
  /** Possibly temporary failures that the user has been told of. */
  private readonly told = new Set<string>();
  private readonly ending = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private state: ClusterLive['state'] = 'connecting';

  constructor(options: ClusterSharesOptions) {
    const { context, store, cluster, runId } = options;
    this.options = options;
    const run = { context, folder: store.folder, runId };
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
    const { store, notes } = this.options;
    const deadline = performance.now() + END_WAIT_MS;
    const isAtWork = ({ share }: OpenShare) => runLockHolder(join(store.folder, shareFolder(share))) !== null;
    while (performance.now() < deadline && [...this.open.values()].some(isAtWork)) await sleep(500);
    await mergeShares(store, notes).catch(() => undefined);
    this.state = 'ended';
  }

  live(): ClusterLive {
    const waiting = [...this.open.values()].filter(
      ({ task, endedFor }) => task?.state !== 'running' && endedFor === null,
    );
    return {
      kind: this.options.cluster.kind,
      state: this.state,
      job: this.scheduler.job,
      waiting: waiting.length,
      reason: waiting[0]?.task?.reason ?? null,
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
        ...{ status: null, task: null, endedFor: null },
      });
  }

  private async submit(): Promise<void> {
    if (!this.unsubmitted?.size) return;
    const shares = [...this.unsubmitted];
    await listForShares(this.options.store);
    await this.scheduler.submit(shares);
    this.unsubmitted.clear();
  }

  /**
   * Runs an operation that may fail temporarily, for example because a scheduler or a network disk does not
   * respond, and leaves a failure to the next look: ending the run for one such fault would end all running
   * tasks. Undefined if it failed.
   */
  private async attempt<Done>(work: () => Promise<Done>): Promise<Done | undefined> {
    try {
      return await work();
    } catch (reason) {
      const { code, cause } = asAppError(reason);
      if (LASTING.has(code)) throw reason;
      const passing = message('note.cluster_passing', { text: cause });
      if (!this.told.has(cause)) this.options.notes.add('warning', 'cluster_passing', passing);
      this.told.add(cause);
      return undefined;
    }
  }

  private async look(asksScheduler: boolean): Promise<void> {
    const open = [...this.open.values()];
    const names = open.map(({ share }) => shareName(share));
    const statuses = await readShareStatuses(this.options.store.folder, names);
    for (const one of open) one.status = statuses.get(shareName(one.share)) ?? null;
    const followed = open.filter(({ endedFor }) => endedFor === null);
    const byShare = new Map(followed.map(({ share, status }) => [share.index, status]));
    const tasks = asksScheduler ? await this.attempt(() => this.scheduler.tasks(byShare)) : undefined;
    const isFirst = this.unsubmitted === null && tasks !== undefined;
    if (isFirst) this.unsubmitted = new Set(byShare.keys());
    for (const task of tasks ?? []) this.note(task);
    const ended = new Set(tasks?.flatMap(({ share, state }) => (state === 'ended' ? [share] : [])));
    for (const one of open) {
      if (this.isEnding()) return;
      if (!ended.has(one.share.index) && one.status?.phase !== 'done') continue;
      const { store, notes } = this.options;
      const name = shareName(one.share);
      const merged = await this.attempt(() => mergeShare(store, notes, name));
      if (merged) this.noteMerged(one, merged);
    }
    // Only after an answer, which names also tasks of an earlier start, and a job that was taken although sbatch had
    // failed; and without the shares that such tasks have finished. While a task computes, a refusal does not end it.
    if (tasks && ended.size === tasks.length) await this.submit();
    else if (tasks) await this.attempt(() => this.submit());
    if (this.open.size === 0) await this.failIfPartsAreLeft();
    else this.failIfAllHaveEnded();
  }

  /** Records the scheduler's state for the task of a share. One that ended before this start is not followed. */
  private note(task: ShareTask): void {
    const one = this.open.get(task.share);
    if (!one || (task.state === 'ended' && this.unsubmitted?.has(task.share))) return;
    one.task = task;
    this.unsubmitted?.delete(task.share);
  }

  private noteMerged(one: OpenShare, { keys, finished }: ShareMerged): void {
    const { share, task, waiting, status } = one;
    for (const key of keys) waiting.delete(key);
    if (keys.length > 0) this.options.emit({ type: 'shares_merged', keys });
    if (finished) {
      this.open.delete(share.index);
      this.unsubmitted?.delete(share.index);
    } else if (task?.state === 'ended' && one.endedFor === null) {
      one.endedFor = status?.error ?? task.reason ?? '';
      const node = task.node ?? status?.node ?? '?';
      const named = { share: `${share.index}/${share.of}`, node, reason: one.endedFor };
      this.options.notes.add('warning', 'share_ended', message('note.share_ended', named));
    }
  }

  /** Nothing is left to wait for. What a person has cancelled stays cancelled until a person resumes the run. */
  private failIfAllHaveEnded(): void {
    const left = [...this.open.values()];
    const reason = left.find(({ endedFor }) => endedFor !== null)?.endedFor ?? '';
    if (left.some(({ endedFor }) => endedFor === null)) return;
    const shares = listShares(left.map(({ share }) => share));
    throw appFailure('shares_missing', message('cluster.shares_left', { shares, reason }));
  }

  /** Damaged parts of shares that are merged still wait; the next start computes them again. */
  private async failIfPartsAreLeft(): Promise<void> {
    const { length } = await this.options.store.shareParts();
    if (length > 0) throw appFailure('cluster_failed', message('cluster.parts_left', { parts: length }));
  }
}
