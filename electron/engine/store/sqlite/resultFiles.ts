import type Database from 'better-sqlite3';
import type { ResultFileDigest } from '../types.ts';

/** The digests of the result files as they were last written. */
export function readResultFiles(db: Database.Database): Record<string, ResultFileDigest> {
  const rows = db
    .prepare<[], ResultFileDigest & { name: string }>(
      'SELECT name, bytes, sha256 FROM result_file ORDER BY name',
    )
    .all();
  return Object.fromEntries(rows.map(({ name, bytes, sha256 }) => [name, { bytes, sha256 }]));
}

export function resultFileMethods(db: Database.Database) {
  const save = db.prepare('INSERT INTO result_file (name, bytes, sha256) VALUES (?, ?, ?)');
  return {
    saveResultFiles: db.transaction((files: Record<string, ResultFileDigest>): void => {
      db.exec('DELETE FROM result_file');
      for (const [name, { bytes, sha256 }] of Object.entries(files)) save.run(name, bytes, sha256);
    }),
  };
}
