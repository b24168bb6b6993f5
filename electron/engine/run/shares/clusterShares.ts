import { chmodSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, AppFailure, asAppError, type AppError } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { ClusterChoice } from '../../../contract/cluster.ts';
import type { ClusterLive, DeviceLive } from '../../../contract/rpc/runs.ts';
import { quotedForShell } from '../../../contract/terminal/quotedForShell.ts';
import type { EngineContext } from '../../engineContext.ts';
import { pathInRun, replaceInRun } from '../../files/runFiles.ts';
import { runLockHolder } from '../../store/runLock.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { isOfShare, shareFolder, type Share } from '../../store/shares.ts';
import type { RunNotes } from '../runNotes.ts';
import { listForShares } from './listForShares.ts';
import { mergeShare, mergeShares } from './mergeShares.ts';
import { RayScheduler } from './ray.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import { isShareDone, readShareStatus, shareFolderIn, type ShareStatus } from './shareStatus.ts';
import { SlurmScheduler } from './slurm.ts';

const PROGRAM = 'work/virnucpro';
const EXECUTABLE = 0o755;

const LOOK_EVERY_MS = 3_000;
/** A scheduler is asked less often than the folder is looked at: administrators count such calls. */
const LOOKS_PER_QUESTION = 5;
/** Ends of a share without a single new part, after which the run is paused. */
const MOST_FRUITLESS_ENDS = 3;
/** Fruitless ends in a row on one node, after which it is asked for no more. */
const MOST_ENDS_ON_NODE = 2;
const END_WAIT_MS = 20_000;
const LAST_WORDS = 300;

export type ClusterSharesEvent =
  { type: 'shares_merged'; keys: readonly string[] } | { type: 'shares_failed'; error: AppError };

interface ClusterSharesOptions {
  context: EngineContext;
  store: RunStore;
  notes: RunNotes;
  runId: string;
  cluster: ClusterChoice;
  /** Without a running task for so long, the run is paused. */
  maxWaitMs: number | undefined;
  emit: (event: ClusterSharesEvent) => void;
}

/** A share that is not computed to its end. */
interface OpenShare {
  readonly share: Share;
  /** Residues of its parts that wait in the run's database, by the parts' keys. */
  readonly waiting: Map<string, number>;
  fruitlessEnds: number;
  status: ShareStatus | null;
  task: ShareTask | null;
}

/** Has the parts of a run computed as shares on a cluster, follows them, and takes over what they have computed. */
export class ClusterShares {
  private readonly options: ClusterSharesOptions;
  private readonly scheduler: Scheduler;
  private readonly open = new Map<number, OpenShare>();
  private readonly endsOnNode = new Map<string, number>();
  private readonly excluded = new Set<string>();
  private readonly ending = new AbortController();
  private following: Promise<void> = Promise.resolve();
  private state: ClusterLive['state'] = 'connecting';
  private version: string | null = null;
  private rounds = 0;
  private lastAtWork = performance.now();

  constructor(options: ClusterSharesOptions) {
    const { context, store, cluster, runId } = options;
    this.options = options;
    const { folder } = store;
    const program = writeOwnProgram(folder, context);
    const about = { context, folder, runId, program };
    this.scheduler =
      cluster.kind === 'slurm' ? new SlurmScheduler(cluster, about) : new RayScheduler(cluster, about);
  }

  start(): void {
    this.following = this.follow().catch((reason: unknown) => {
      this.state = 'ended';
      if (!this.isEnding()) this.options.emit({ type: 'shares_failed', error: asAppError(reason) });
    });
  }

  /** Ends all tasks and takes over what they have computed. What a task finishes after that is taken over by the next start. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.following;
    await this.scheduler.cancel().catch(() => undefined);
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

  /** Residues that shares have computed and that are not in the run's database yet. */
  get residuesInWork(): number {
    return [...this.open.values()].reduce((sum, { status, waiting }) => {
      const here = [...waiting.values()].reduce((all, residues) => all + residues, 0);
      return sum + (status === null ? 0 : Math.max(0, here - status.residuesLeft));
    }, 0);
  }

  /** Parts, likewise. */
  get partsInWork(): number {
    return [...this.open.values()].reduce(
      (sum, { status, waiting }) =>
        sum + (status === null ? 0 : Math.max(0, waiting.size - (status.parts.total - status.parts.done))),
      0,
    );
  }

  private isEnding(): boolean {
    return this.ending.signal.aborted;
  }

  private areAnyAtWork(): boolean {
    const { folder } = this.options.store;
    return [...this.open.values()].some(({ share }) => runLockHolder(shareFolderIn(folder, share)) !== null);
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
    const known = (await this.scheduler.tasks()) ?? [];
    // Tasks of an earlier start of this program are followed, and those that have ended are found by the first look.
    await this.submit([...this.open.keys()].filter((index) => !known.some(({ share }) => share === index)));
    for (let look = 0; !this.isEnding(); look++) {
      await this.look(look % LOOKS_PER_QUESTION === 0);
      await sleep(LOOK_EVERY_MS, undefined, { signal: this.ending.signal }).catch(() => undefined);
    }
  }

  /** Which parts still wait, by share. */
  private async divide(): Promise<void> {
    const { store, cluster } = this.options;
    this.open.clear();
    const parts = await store.shareParts();
    for (let index = 1; index <= cluster.shares; index++) {
      const share = { index, of: cluster.shares };
      const own = parts.filter(({ turn }) => isOfShare(share, turn));
      const waiting = new Map(own.map(({ key, residues }) => [key, residues]));
      if (own.length > 0)
        this.open.set(index, { share, waiting, fruitlessEnds: 0, status: null, task: null });
    }
  }

  private async submit(shares: readonly number[]): Promise<void> {
    if (shares.length === 0) return;
    await listForShares(this.options.store);
    await this.scheduler.submit(shares, [...this.excluded]);
  }

  private async look(asksScheduler: boolean): Promise<void> {
    const tasks = asksScheduler ? await this.scheduler.tasks() : null;
    const again: number[] = [];
    for (const one of this.open.values()) {
      if (this.isEnding()) return;
      const { index } = one.share;
      one.status = readShareStatus(this.options.store.folder, one.share);
      const task = tasks?.find(({ share }) => share === index);
      if (task) one.task = task;
      if (one.task?.hopeless) throw hopeless(one.task);
      const hasEnded = task?.state === 'ended';
      if (!hasEnded && !isShareDone(one.status)) continue;
      const taken = await this.take(one);
      if (taken === 'finished') {
        if (one.task?.node) this.endsOnNode.delete(one.task.node);
      } else if (hasEnded && taken !== 'at_work') {
        this.noteEnd(one, task, taken === 'some');
        again.push(index);
      }
    }
    await this.submit(again);
    if (this.open.size === 0) await this.nextRound();
    this.watchTheWait();
  }

  private async take(one: OpenShare): Promise<'finished' | 'at_work' | 'some' | 'nothing'> {
    const { store, notes, emit } = this.options;
    const taken = await mergeShare(store, notes, shareFolder(one.share).split('/').at(-1) ?? '');
    if (taken === 'at_work') return 'at_work';
    for (const key of taken.keys) one.waiting.delete(key);
    if (taken.finished) this.open.delete(one.share.index);
    if (taken.keys.length > 0) emit({ type: 'shares_merged', keys: taken.keys });
    if (taken.finished) return 'finished';
    return taken.keys.length > 0 ? 'some' : 'nothing';
  }

  /** A task has ended before its share: who, where and why; and what is done about it. */
  private noteEnd(one: OpenShare, { node, reason }: ShareTask, hasComputed: boolean): void {
    const { notes } = this.options;
    const { index, of } = one.share;
    const cause = one.status?.error ?? reason;
    const where = node ?? one.status?.node ?? '?';
    one.fruitlessEnds = hasComputed ? 0 : one.fruitlessEnds + 1;
    const said = message('note.share_ended', { share: `${index}/${of}`, node: where, reason: cause });
    const words = this.scheduler.lastWords(index)?.slice(-LAST_WORDS);
    notes.add('warning', 'share_ended', said, words);
    if (one.fruitlessEnds >= MOST_FRUITLESS_ENDS)
      throw new AppFailure(
        appError(
          'cluster_failed',
          message('cluster.gave_up', {
            share: `${index}/${of}`,
            times: one.fruitlessEnds,
            node: where,
            reason: cause,
          }),
          { detail: words },
        ),
      );
    const ends = hasComputed ? 0 : (this.endsOnNode.get(where) ?? 0) + 1;
    this.endsOnNode.set(where, ends);
    if (node !== null && ends === MOST_ENDS_ON_NODE) {
      this.excluded.add(node);
      notes.add('warning', 'node_excluded', message('note.node_excluded', { node, times: ends }));
    }
  }

  /** All shares are taken over. What was damaged in one waits still, and is computed once more. */
  private async nextRound(): Promise<void> {
    await this.divide();
    if (this.open.size === 0) return;
    this.rounds += 1;
    if (this.rounds >= MOST_FRUITLESS_ENDS)
      throw new AppFailure(
        appError('cluster_failed', message('cluster.parts_left', { parts: this.open.size })),
      );
    await this.submit([...this.open.keys()]);
  }

  private watchTheWait(): void {
    const { maxWaitMs } = this.options;
    const tasks = [...this.open.values()].map(({ task }) => task);
    const now = performance.now();
    if (tasks.length === 0 || tasks.some((task) => task?.state === 'running')) this.lastAtWork = now;
    if (maxWaitMs === undefined || now - this.lastAtWork < maxWaitMs) return;
    const minutes = Math.round(maxWaitMs / 60_000);
    const reason = tasks.find((task) => task)?.reason ?? '';
    throw new AppFailure(
      appError('cluster_failed', message('cluster.waited', { minutes, reason }), {
        nextStep: message('cluster.waited.next'),
      }),
    );
  }
}

const hopeless = ({ reason }: ShareTask): AppFailure =>
  new AppFailure(
    appError('cluster_failed', message('cluster.hopeless', { reason }), {
      nextStep: message('cluster.hopeless.next'),
    }),
  );

/**
 * Leaves in the run's folder what starts this very program on a node, with the same settings and the same Python. It is written
 * before each use, so that nothing which lay in the folder is ever run. Null for the desktop app, which nodes cannot start: they need
 * a `virnucpro` of their own.
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
