import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isProcessAlive } from '../../electron/engine/system/liveProcess.ts';

interface FinishedPart {
  key: string;
  attempts: number;
  scores: string;
}

/** The process numbers of those workers of a run that are alive, of all that its own database names. */
export const liveWorkers = (runFolder: string): number[] =>
  read<{ pid: number }>(runFolder, 'SELECT DISTINCT worker_pid AS pid FROM attempt')
    .map(({ pid }) => pid)
    .filter(isProcessAlive);

/** The finished parts according to a run's own database, with the hash of each part's scores. */
export const finishedParts = (runFolder: string): FinishedPart[] =>
  read(
    runFolder,
    `SELECT key, attempts, scores_sha256 AS scores FROM part WHERE state = 'done' ORDER BY key`,
  );

function read<Row>(runFolder: string, query: string): Row[] {
  const db = new Database(join(runFolder, 'run.db'), { readonly: true });
  try {
    return db.prepare<[], Row>(query).all();
  } finally {
    db.close();
  }
}
