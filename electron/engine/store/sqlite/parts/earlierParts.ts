import type Database from 'better-sqlite3';
import { CheckedRows } from './checkedRows.ts';
import { sealMethods } from './digests.ts';
import type { PartRow } from './partRows.ts';

/** What computing a part finds, apart from where and how fast. */
const FOUND = [
  ...['scores_sha256', 'recomputed_fp32', 'frames_failed', 'frames_outside_norm_band', 'esm2_norm_low'],
  ...['esm2_norm_high', 'dnabert_s_norm_low', 'dnabert_s_norm_high', 'batch_halvings'],
  ...['repeated_proteins', 'repeated_nucleotides'],
];

/**
 * Returns a function that takes over what an earlier run computed of the same frames, if it did and that is
 * sound. Parts with the same bytes have the same rows, chunks and frames. A part that is taken over has no
 * device: it was not computed in this run.
 */
export function takingOver(db: Database.Database, earlier: Database.Database): (part: PartRow) => void {
  const checked = new CheckedRows(earlier);
  const done = earlier
    .prepare<[], [sha256: string, id: number]>(
      `SELECT sha256, id FROM part WHERE state = 'done' AND parent IS NULL`,
    )
    .raw();
  const ids = new Map(done.all());
  const found = earlier.prepare<[number]>(`SELECT ${FOUND.join(', ')} FROM part WHERE id = ?`).raw();
  const chunks = earlier
    .prepare<[number, number, number], unknown[]>(
      `SELECT row, chunk, frames, unscored, fp32, is_virus, scores, reason FROM chunk
       WHERE row BETWEEN ? AND ? AND part = ?`,
    )
    .raw();
  const settle = db.prepare(
    `UPDATE part SET state = 'done', ${FOUND.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  );
  const insert = db.prepare(
    `INSERT OR REPLACE INTO chunk (row, chunk, frames, unscored, fp32, is_virus, scores, reason, part)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const { sealPart } = sealMethods(db);
  return ({ id, key, sha256, firstRow, lastRow }) => {
    const same = ids.get(sha256);
    if (same === undefined) return;
    try {
      checked.part(same);
    } catch {
      return; // It is damaged there, and computed here.
    }
    settle.run(...(found.get(same) as unknown[]), id);
    for (const chunk of chunks.iterate(firstRow, lastRow, same)) insert.run(...chunk, id);
    sealPart(key);
  };
}
