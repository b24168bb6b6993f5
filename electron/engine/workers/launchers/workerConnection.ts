import type { WorkerCommand, WorkerEvent } from '../../../contract/protocol/index.ts';
import type { ProcessEvent } from '../backendProcess.ts';

/** A worker that was started, wherever it runs: it takes commands, and is heard until it ends. */
export interface WorkerConnection {
  /** Of its process on this computer; null elsewhere. */
  readonly pid: number | null;
  send(command: WorkerCommand): void;
  /** Into the worker's log. */
  writeLog(line: string): void;
  /** Ends it after the batch under way, by force where that takes longer. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

/** Starts a worker, whose end is the last that is heard of it. Nothing is emitted before this has returned. */
export type WorkerLauncher = (emit: (event: ProcessEvent<WorkerEvent>) => void) => WorkerConnection;
