import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { NO_GPU } from '../../devices/chosenDevice.ts';
import { join } from 'node:path';
import type { RayChoice } from '../../../contract/cluster.ts';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { message, plain } from '../../../contract/messages.ts';
import { rayEventSchema, type RayEvent } from '../../../contract/protocol/index.ts';
import { BackendProcess, type ProcessEvent } from '../../workers/backendProcess.ts';
import { exitMessage } from '../../workers/childProcess.ts';
import { ownCommand } from './clusterPlan.ts';
import type { ClusterRun, Scheduler, ShareTask } from './scheduler.ts';
import { isSilent, type ShareStatus } from './shareStatus.ts';

const STOP_GRACE_MS = 10_000;

/**
 * The driver of a Ray cluster in a Python process. Ray itself decides which node computes what, and handles
 * the loss of a node.
 */
export class RayScheduler implements Scheduler {
  /** Its tasks end with this program, so nobody has to end them by name. */
  readonly job = null;
  private readonly tasksByShare = new Map<number, ShareTask>();
  private readonly process: BackendProcess<RayEvent>;
  private readonly connected = Promise.withResolvers<string>();
  private failure: AppFailure | undefined;

  constructor({ address, shares, cpus }: RayChoice, { context, folder }: ClusterRun) {
    const task = [folder, String(shares), String(cpus), ...ownCommand(context.environment.interpreter)];
    const launch = pythonLaunch(context.environment, 'virnucpro_backend.cluster', [address, ...task], NO_GPU);
    this.process = new BackendProcess(launch, join(folder, 'logs', 'ray.log'), rayEventSchema, this.take);
    // A failure is reported by the next call.
    this.connected.promise.catch(() => undefined);
  }

  open(): Promise<string> {
    return this.connected.promise;
  }

  submit(shares: readonly number[]): Promise<void> {
    const task = { state: 'waiting', node: null, reason: null } as const;
    for (const share of shares) this.tasksByShare.set(share, { share, ...task });
    this.process.send({ type: 'submit', shares });
    return Promise.resolve();
  }

  /** Ray reports when a task ends, but not when it begins; the share's own status shows that it is computed. */
  tasks(statuses: ReadonlyMap<number, ShareStatus | null>): Promise<ShareTask[]> {
    if (this.failure) throw this.failure;
    return Promise.resolve(
      [...this.tasksByShare.values()].map((task) => {
        const status = statuses.get(task.share);
        return task.state === 'ended' || !status || isSilent(status)
          ? task
          : { ...task, state: 'running' as const, node: status.node, reason: null };
      }),
    );
  }

  /** All tasks end with their driver. */
  async cancel(): Promise<void> {
    await this.process.stop(STOP_GRACE_MS);
  }

  private readonly take = (event: ProcessEvent<RayEvent>): void => {
    if (event.type === 'fault') this.fail(new AppFailure({ ...event.error, code: 'cluster_lost' }));
    else if (event.type === 'exit') {
      const how = exitMessage(event.exit);
      // Ray itself ends a program that has not reached its head node, the GCS, for a minute.
      const isHeadLost = event.exit.lastLines.some((line) => /\bGCS\b/.test(line));
      const cause = isHeadLost ? message('cluster.head_lost') : message('cluster.ended', { how });
      this.fail(appFailure('cluster_lost', cause, { detail: how.text }));
    } else this.takeMessage(event.message);
  };

  private takeMessage(event: RayEvent): void {
    if (event.type === 'connected') this.connected.resolve(event.version);
    else if (event.type === 'refused')
      this.fail(appFailure('cluster_failed', message('ray.refused', { reason: event.reason })));
    else if (event.type === 'share_ended') {
      const { share, node, reason } = event;
      this.tasksByShare.set(share, { share, node, reason: plain(reason), state: 'ended' });
    }
  }

  private fail(failure: AppFailure): void {
    this.failure ??= failure;
    this.connected.reject(this.failure);
  }
}
