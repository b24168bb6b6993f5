import type { Message } from '../../../contract/messages.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { ShareStatus } from './shareStatus.ts';

export interface ClusterRun {
  context: EngineContext;
  folder: string;
  runId: string;
  /** The command that starts this program on a node; null if nodes have their own. */
  program: string | null;
}

/** The state of the task that computes a share, from a cluster's scheduler. */
export interface ShareTask {
  /** Number of the share, from 1. */
  share: number;
  /** `hopeless`: it waits for something that will never happen. */
  state: 'waiting' | 'hopeless' | 'running' | 'ended';
  node: string | null;
  /** Why it waits, or how it ended; null while it runs, and while nobody knows. */
  reason: Message | null;
}

/** A cluster's scheduler, which starts `virnucpro compute` for shares and restarts them if a node is lost. */
export interface Scheduler {
  /** Connects and returns the scheduler's version, such as `Slurm 23.11`. Rejects with AppFailure. */
  open(): Promise<string>;
  /** Submits these shares, avoiding these nodes. Rejects with AppFailure. */
  submit(shares: readonly number[], excluded: readonly string[]): Promise<void>;
  /** Whether it can keep tasks away from a node. */
  readonly excludes: boolean;
  /**
   * The tasks of all submitted shares that it knows. `statuses`: the shares' own statuses, by number. Rejects
   * while it does not respond, with cluster_lost if it will not again.
   */
  tasks(statuses: ReadonlyMap<number, ShareStatus>): Promise<ShareTask[]>;
  /** The id of the tasks in the scheduler's own programs, for people. */
  readonly job: string | null;
  /** The last lines that the last task of a share wrote. */
  lastOutput(share: number): string | null;
  /** Ends all tasks, each after its current batch. Rejects if they may continue; they are then remembered. */
  cancel(): Promise<void>;
}
