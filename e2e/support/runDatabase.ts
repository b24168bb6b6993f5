import { join } from 'node:path';
import Database from 'better-sqlite3';

interface FinishedPart {
  key: string;
  attempts: number;
  scores: string;
}

/** Parts that are done, by what a run's own database says, with the hash of each one's scores. */
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
