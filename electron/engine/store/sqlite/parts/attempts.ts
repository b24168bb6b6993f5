import type Database from 'better-sqlite3';
import type { AttemptEnd, AttemptOutcome, AttemptStart, Milliseconds } from '../../types.ts';

/** Outcomes that leave the part as if the attempt had never happened. */
const COSTLESS: readonly AttemptOutcome[] = ['recalled', 'interrupted'];

/** Ends attempts that a dead engine left open; their parts are pending again. */
export function closeOpenAttempts(db: Database.Database, now: Milliseconds): void {
  db.transaction(() => {
    db.prepare(
      `UPDATE part SET state = 'pending', device = NULL, attempts = max(0, attempts - 1) WHERE state = 'assigned'`,
    ).run();
    db.prepare(`UPDATE attempt SET ended_at = ?, outcome = 'interrupted' WHERE ended_at IS NULL`).run(now);
  })();
}

export function attemptWriteMethods(db: Database.Database) {
  const assign = db.prepare(
    `UPDATE part SET state = 'assigned', device = ?, attempts = attempts + 1 WHERE key = ? AND state = 'pending'`,
  );
  const insert = db.prepare(
    'INSERT INTO attempt (part, device, worker_pid, started_at, log) VALUES (?, ?, ?, ?, ?)',
  );
  const end = db.prepare<[number, string, string | null, string | null, number], string>(`
    UPDATE attempt SET ended_at = ?, outcome = ?, code = ?, message = ? WHERE attempt = ? AND ended_at IS NULL
    RETURNING part`);
  const release = db.prepare(
    `UPDATE part SET state = 'pending', device = NULL, attempts = max(0, attempts - ?)
     WHERE key = ? AND state = 'assigned'`,
  );
  return {
    startAttempt: db.transaction((start: AttemptStart): number | null => {
      if (assign.run(start.device, start.part).changes === 0) return null;
      const { part, device, workerPid, startedAt, log } = start;
      return Number(insert.run(part, device, workerPid, Math.round(startedAt), log).lastInsertRowid);
    }),
    endAttempt: db.transaction((attempt: number, how: AttemptEnd): void => {
      const { outcome, endedAt, code, message } = how;
      const ended = end.pluck().get(Math.round(endedAt), outcome, code ?? null, message ?? null, attempt);
      if (ended === undefined || outcome === 'done' || outcome === 'failed') return;
      release.run(COSTLESS.includes(outcome) ? 1 : 0, ended);
    }),
  };
}

/** Ends the open attempts of one part, inside the caller's transaction. */
export function endAttemptsOf(db: Database.Database, key: string, how: AttemptEnd): void {
  db.prepare(
    'UPDATE attempt SET ended_at = ?, outcome = ?, code = ?, message = ? WHERE part = ? AND ended_at IS NULL',
  ).run(Math.round(how.endedAt), how.outcome, how.code ?? null, how.message ?? null, key);
}

export function isAttemptOpen(db: Database.Database, attempt: number, key: string): boolean {
  const open = db.prepare('SELECT 1 FROM attempt WHERE attempt = ? AND part = ? AND ended_at IS NULL');
  return open.get(attempt, key) !== undefined;
}
