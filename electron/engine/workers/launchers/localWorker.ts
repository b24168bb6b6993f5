import { workerEventSchema } from '../../../contract/protocol/index.ts';
import { BackendProcess } from '../backendProcess.ts';
import type { RecordedLaunch } from '../processRecords.ts';
import type { WorkerLauncher } from './workerConnection.ts';

/** Workers that are processes of this computer. */
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
