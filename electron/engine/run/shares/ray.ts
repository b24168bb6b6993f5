import { join } from 'node:path';
import { z } from 'zod';
import type { RayChoice } from '../../../contract/cluster.ts';
import { type AppFailure, appFailure } from '../../../contract/errors.ts';
import { message, plain } from '../../../contract/messages.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { NO_GPU } from '../../devices/chosenDevice.ts';
import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { ChildProcess, exitMessage, type ProcessExit } from '../../workers/childProcess.ts';
import { ProcessLog } from '../../workers/processLog.ts';
import { ownCommand } from './clusterPlan.ts';
import type { ClusterRun, Scheduler, ShareTask } from './scheduler.ts';
import { isSilent, type ShareStatus } from './shareStatus.ts';

const STOP_GRACE_MS = 10_000;

/** What the driver prints: its version, once it is connected, then the number, node and end of each share's task. */
const lineSchema = z.union([z.string(), z.tuple([z.int(), z.string().nullable(), z.string()])]);

/**
 * The driver of a Ray cluster in a Python process. Ray itself decides which node computes what, and handles
 * the loss of a node.
 */
export class RayScheduler implements Scheduler {
  /** Its tasks end with this program, so nobody has to end them by name. */
  readonly job = null;
  private readonly tasksByShare = new Map<number, ShareTask>();
  private readonly driver: ChildProcess;
  private readonly connected = Promise.withResolvers<string>();
  private isConnected = false;
  private failure: AppFailure | undefined;

  constructor({ address, shares, cpus }: RayChoice, { context, folder }: ClusterRun) {
    const task = [folder, String(shares), String(cpus), ...ownCommand(context.environment.interpreter)];
    const launch = pythonLaunch(context.environment, 'virnucpro_backend.cluster', [address, ...task], NO_GPU);
    const log = new ProcessLog(join(folder, 'logs', 'ray.log'));
    this.driver = new ChildProcess(launch, {
      line: (line) => this.take(line),
      errorLine: (line) => log.write(line),
    });
    void this.driver.ended.then((exit) => {
      log.end('the driver ended');
      this.fail(exit, context.environment.interpreter);
    });
    // A failure is reported by the next call.
    this.connected.promise.catch(() => undefined);
  }

  open(): Promise<string> {
    return this.connected.promise;
  }

  submit(shares: readonly number[]): Promise<void> {
    const task = { state: 'waiting', node: null, reason: null } as const;
    for (const share of shares) this.tasksByShare.set(share, { share, ...task });
    this.driver.write(`${JSON.stringify(shares)}\n`);
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
    await this.driver.stop(STOP_GRACE_MS);
  }

  private take(line: string): void {
    const said = parseJson(lineSchema, line);
    if (typeof said === 'string') {
      this.isConnected = true;
      this.connected.resolve(said);
    } else if (said) {
      const [share, node, reason] = said;
      this.tasksByShare.set(share, { share, state: 'ended', node, reason: plain(reason) });
    }
  }

  private fail(exit: ProcessExit, python: string): void {
    const how = exitMessage(exit);
    // Ray itself ends a program that has not reached its head node, the GCS, for a minute.
    const isHeadLost = exit.lastLines.some((line) => /\bGCS\b/.test(line));
    const lost = isHeadLost ? message('cluster.head_lost') : message('cluster.ended', { how });
    this.failure = this.isConnected
      ? appFailure('cluster_lost', lost, { detail: how.text })
      : appFailure('cluster_failed', message('ray.refused', { how, python }));
    this.connected.reject(this.failure);
  }
}
