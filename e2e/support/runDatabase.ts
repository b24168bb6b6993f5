import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isProcessAlive } from '../../electron/engine/system/liveProcess.ts';

interface FinishedPart {
  key: string;
  attempts: number;
  scores: string;
}

/** The process numbers of those workers of a run that are alive, of all that its own database names. */
export function liveWorkers(runFolder: string): number[] {
  const db = new Database(join(runFolder, 'run.db'), { readonly: true });
  try {
    return db
      .prepare<[], { pid: number }>('SELECT DISTINCT worker_pid AS pid FROM attempt')
      .all()
      .flatMap(({ pid }) => (isProcessAlive(pid) ? [pid] : []));
  } finally {
    db.close();
  }
}

/** The finished parts according to a run's own database, with the hash of each part's scores. */
export function finishedParts(runFolder: string): FinishedPart[] {
  const db = new Database(join(runFolder, 'run.db'), { readonly: true });
  try {
    return db
      .prepare<[], FinishedPart>(
        `SELECT key, attempts, scores_sha256 AS scores FROM part WHERE state = 'done' ORDER BY key`,
      )
      .all();
  } finally {
    db.close();
  }
}
