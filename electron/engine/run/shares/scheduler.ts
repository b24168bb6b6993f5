import type { ShareStatus } from './shareStatus.ts';

/** What a cluster's scheduler says of the task that computes a share. */
export interface ShareTask {
  /** Number of the share, from 1. */
  share: number;
  state: 'waiting' | 'running' | 'ended';
  node: string | null;
  /** Why it waits, or how it ended; empty while it runs. */
  reason: string;
  /** It waits for something that cannot come, so it would wait for ever. */
  hopeless: boolean;
  /** It has ended for this program, though the scheduler still holds it. */
  held?: boolean;
}

/** A cluster's scheduler, which starts `virnucpro compute` for shares and starts them again where a node is lost. */
export interface Scheduler {
  /** Connects; answers with its version, such as `Slurm 23.11`. Rejects with AppFailure. */
  open(): Promise<string>;
  /** Has these shares computed, not on these nodes. Rejects with AppFailure. */
  submit(shares: readonly number[], excluded: readonly string[]): Promise<void>;
  /** Whether it can keep tasks away from a node. */
  readonly excludes: boolean;
  /** Of all shares that were submitted and that it knows; null while it does not answer. `statuses`: what shares say, by number. */
  tasks(statuses: ReadonlyMap<number, ShareStatus>): Promise<ShareTask[] | null>;
  /** What identifies the tasks to the scheduler's own programs, for people. */
  readonly job: string | null;
  /** The end of what the last task of a share has written. */
  lastWords(share: number): string | null;
  /** Ends all tasks: they stop after the batch under way. Rejects where they may go on; they are not forgotten then. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}
