import { join } from 'node:path';
import type { RayChoice } from '../../../contract/cluster.ts';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { rayEventSchema, type RayEvent } from '../../../contract/protocol/index.ts';
import { BackendProcess, type ProcessEvent } from '../../workers/backendProcess.ts';
import { exitMessage } from '../../workers/childProcess.ts';
import { backendLaunch, NO_GPU } from '../work/workProcesses.ts';
import type { Scheduler, ShareTask } from './scheduler.ts';
import type { ShareStatus } from './shareStatus.ts';
import type { ClusterRun } from './slurm.ts';

const STOP_GRACE_MS = 10_000;
/** Ray reports when a task ends, but not when it begins; the share's own status shows that it is computed. */
const SILENT_MS = 60_000;

/**
 * The driver of a Ray cluster in a Python process. Ray itself decides which node computes what, and handles
 * the loss of a node.
 */
export class RayScheduler implements Scheduler {
  /** Ray chooses the node of a task. */
  readonly excludes = false;
  private readonly choice: RayChoice;
  private readonly run: ClusterRun;
  /** The last status of each share, and when it was first seen. */
  private readonly signs = new Map<number, { time: number; at: number }>();
  private readonly known = new Map<number, ShareTask & { words: string | null }>();
  private process: BackendProcess<RayEvent> | undefined;
  private failure: AppFailure | undefined;
  private connected: { version: string; job: string } | undefined;
  private readonly answered = Promise.withResolvers<null>();

  constructor(choice: RayChoice, run: ClusterRun) {
    this.choice = choice;
    this.run = run;
  }

  get job(): string | null {
    return this.connected?.job ?? null;
  }

  async open(): Promise<string> {
    const { context, folder, program } = this.run;
    const { address, shares, cpus, workers } = this.choice;
    this.process = new BackendProcess(
      backendLaunch(context, 'cluster', [], NO_GPU),
      join(folder, 'logs', 'ray.log'),
      rayEventSchema,
      this.take,
    );
    this.process.send({
      type: 'connect',
      address,
      run: folder,
      program: program ?? 'virnucpro',
      shares,
      cpus,
      workers,
    });
    await this.answered.promise;
    if (this.connected) return this.connected.version;
    throw this.failure ?? new AppFailure(appError('cluster_lost', message('cluster.silent')));
  }

  submit(shares: readonly number[]): Promise<void> {
    for (const share of shares)
      this.known.set(share, {
        share,
        state: 'waiting',
        node: null,
        reason: '',
        hopeless: false,
        words: null,
      });
    this.process?.send({ type: 'submit', shares });
    return Promise.resolve();
  }

  tasks(statuses: ReadonlyMap<number, ShareStatus>): Promise<ShareTask[]> {
    if (this.failure) throw this.failure;
    const now = performance.now();
    for (const [share, { time }] of statuses) {
      const before = this.signs.get(share);
      // Uses only this computer's clock. A status that an earlier start left does not count yet.
      if (before?.time !== time) this.signs.set(share, { time, at: before ? now : -Infinity });
    }
    return Promise.resolve(
      [...this.known.values()].map((task) => {
        const isAtWork = now - (this.signs.get(task.share)?.at ?? -Infinity) < SILENT_MS;
        return task.state === 'waiting' && isAtWork
          ? { ...task, state: 'running' as const, node: statuses.get(task.share)?.node ?? null, reason: '' }
          : task;
      }),
    );
  }

  lastWords(share: number): string | null {
    return this.known.get(share)?.words ?? null;
  }

  cancel(): Promise<void> {
    this.process?.send({ type: 'cancel' });
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.process?.stop(STOP_GRACE_MS);
  }

  private readonly take = (event: ProcessEvent<RayEvent>): void => {
    if (event.type === 'fault') this.fail(new AppFailure(event.error));
    if (event.type === 'exit') {
      const how = exitMessage(event.exit);
      // Ray itself ends a program that has not reached its head node, the GCS, for a minute.
      const isHeadLost = this.connected && event.exit.lastLines.some((line) => /\bGCS\b/.test(line));
      const cause = isHeadLost ? message('cluster.head_lost') : message('cluster.ended', { how });
      this.fail(new AppFailure(appError('cluster_lost', cause, { detail: how.text })));
    }
    if (event.type !== 'message') return;
    const said = event.message;
    if (said.type === 'log') this.run.warn(said.message);
    else if (said.type === 'connected') {
      this.connected = said;
      this.answered.resolve(null);
    } else if (said.type === 'refused') {
      this.fail(new AppFailure(appError('cluster_failed', said.message, { nextStep: said.next_step })));
    } else if (said.type === 'share_waits' || said.type === 'share_ended') {
      const { share, reason } = said;
      const isOver = said.type === 'share_ended';
      this.known.set(share, {
        share,
        state: isOver ? 'ended' : 'waiting',
        node: isOver ? said.node : null,
        reason,
        hopeless: false,
        words: isOver ? said.last_words : null,
      });
    }
  };

  private fail(failure: AppFailure): void {
    this.failure ??= failure;
    this.answered.resolve(null);
  }
}
