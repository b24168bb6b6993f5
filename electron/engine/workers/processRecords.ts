import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { AppPaths } from '../environment/appPaths.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { processStart } from '../processes/liveProcess.ts';

/** Variable that marks a process as ours, whatever its number and name. */
export const TOKEN_VARIABLE = 'VIRNUCPRO_PROCESS_TOKEN';

const processSchema = z.object({ pid: z.int().positive(), startTime: z.string() });

export const processRecordSchema = z.object({
  host: z.string(),
  /** The program that started it, and looks after it while it lives. */
  engine: processSchema,
  process: processSchema,
  token: z.string(),
});
export type ProcessRecord = z.infer<typeof processRecordSchema>;

/** A launch that leaves a record of its process, so that the next start of the program finds it should it be orphaned. */
export interface RecordedLaunch extends PythonLaunch {
  readonly records?: { readonly folder: string; readonly token: string };
}

/** One folder for all runs: an orphan holds its GPU whatever run it came from. */
export function processRecordsFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'processes');
}

export function recorded(launch: PythonLaunch, paths: AppPaths): RecordedLaunch {
  const token = randomUUID();
  return {
    ...launch,
    env: { ...launch.env, [TOKEN_VARIABLE]: token },
    records: { folder: processRecordsFolder(paths), token },
  };
}

/**
 * Notes a process that has just been started; answers with what forgets it again. A file each and no database: the
 * command line writes them too, and nothing must stand between a start and its record. Where the system can't say when a
 * process began (Windows), none is written: a number alone could later be another's.
 */
export function recordProcess(launch: RecordedLaunch, pid: number | undefined): () => void {
  const { records } = launch;
  const startTime = pid === undefined ? null : processStart(pid);
  const engineStart = processStart(process.pid);
  if (!records || pid === undefined || startTime === null || engineStart === null) return () => undefined;
  const record: ProcessRecord = {
    host: hostname(),
    engine: { pid: process.pid, startTime: engineStart },
    process: { pid, startTime },
    token: records.token,
  };
  const path = join(records.folder, `${records.token}-${pid}.json`);
  try {
    mkdirSync(records.folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, JSON.stringify(record));
  } catch {
    // Workers end by themselves when the engine is gone; the record is a second net.
    return () => undefined;
  }
  return () => {
    rmSync(path, { force: true });
  };
}
