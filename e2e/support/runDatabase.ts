import { join } from 'node:path';
import Database from 'better-sqlite3';

interface FinishedPart {
  key: string;
  attempts: number;
  scores: string;
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
