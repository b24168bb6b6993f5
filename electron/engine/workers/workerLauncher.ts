import { workerEventSchema, type WorkerCommand, type WorkerEvent } from '../../contract/protocol/index.ts';
import { BackendProcess, type ProcessEvent } from './backendProcess.ts';
import type { RecordedLaunch } from './processRecords.ts';

/** A worker that was started: it takes commands, and is heard until it ends. */
export interface WorkerConnection {
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

/** Starts workers as processes of this computer. */
export function localLauncher(launch: RecordedLaunch, logPath: string): WorkerLauncher {
  return (emit) => {
    const process = new BackendProcess(launch, logPath, workerEventSchema, emit);
    return {
      pid: process.pid ?? null,
      send: (command) => process.send(command),
      writeLog: (line) => process.writeLog(line),
      stop: (graceMs) => process.stop(graceMs),
      kill: () => process.kill(),
    };
  };
}
