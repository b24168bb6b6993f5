import type Database from 'better-sqlite3';
import type { PrepareDone } from '../../../../contract/protocol/index.ts';

/** Compares what stands in the database with what prepare says it has reported; answers with what differs, in words. */
export function wrongCounts(db: Database.Database, done: PrepareDone): string[] {
  const expected: Record<string, number> = {
    records: done.records,
    chunks: done.chunks,
    'scorable records': done.scorable_records,
    'frames of records': done.frames,
    parts: done.parts,
    'frames of parts': done.frames,
    residues: done.residues,
    ...done.not_scored,
  };
  const found = { ...foundCounts(db), ...foundReasons(db) };
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names]
    .filter((name) => (found[name] ?? 0) !== (expected[name] ?? 0))
    .map((name) => `${name}: ${found[name] ?? 0}, reported ${expected[name] ?? 0}`);
}

function foundCounts(db: Database.Database): Record<string, number> {
  const records = db.prepare<[], Record<string, number>>(
    `SELECT count(*) AS records, coalesce(sum(n_chunks), 0) AS chunks, coalesce(sum(reason IS NULL), 0) AS "scorable records",
       coalesce(sum(n_frames), 0) AS "frames of records" FROM record`,
  );
  const parts = db.prepare<[], Record<string, number>>(
    `SELECT count(*) AS parts, coalesce(sum(frames), 0) AS "frames of parts", coalesce(sum(residues), 0) AS residues
     FROM part WHERE parent IS NULL`,
  );
  return { ...records.get(), ...parts.get() };
}

function foundReasons(db: Database.Database): Record<string, number> {
  const rows = db
    .prepare<[], [string, number]>(
      'SELECT reason, count(*) FROM record WHERE reason IS NOT NULL GROUP BY reason',
    )
    .raw()
    .all();
  return Object.fromEntries(rows);
}
