import type { Message } from '../../../contract/messages.ts';
import type { EngineContext } from '../engineContext.ts';
import type { ShareStatus } from './shareStatus.ts';

export interface ClusterRun {
  context: EngineContext;
  folder: string;
  runId: string;
}

/** The task that computes the share with this number. */
export interface ShareTask {
  share: number;
  state: 'waiting' | 'running' | 'ended';
  node: string | null;
  /** Why it waits, if that is known, or who ended it: a person, the scheduler, its node or its program. */
  reason: Message | null;
}

/** A cluster's scheduler, which starts `virnucpro compute` for shares and restarts them if a node is lost. */
export interface Scheduler {
  /** Connects and returns the scheduler's version, such as `Slurm 23.11`. Rejects with AppFailure. */
  open(): Promise<string>;
  /** Rejects with AppFailure. */
  submit(shares: readonly number[]): Promise<void>;
  /**
   * The last task of each of these shares that was submitted. `statuses`: the shares' own, by number. Rejects
   * while it does not respond, with cluster_lost if it will not again.
   */
  tasks(statuses: ReadonlyMap<number, ShareStatus | null>): Promise<ShareTask[]>;
  /** The id of the tasks in the scheduler's own programs, for people. */
  readonly job: string | null;
  /** Ends all tasks, each after its current batch. Rejects if they may continue. */
  cancel(): Promise<void>;
}
