import type Database from 'better-sqlite3';
import { viralRowMethods, type ViralCount } from './viralRows.ts';

interface DonePart {
  id: number;
  firstRow: number;
  lastRow: number;
  seal: string | null;
}

const UNKNOWN = 0;
const OTHER = 1;
const VIRAL = 2;

/**
 * Sequences called virus among those with a score, while a run grows. A pass over all chunks takes
 * more than a second for ten million, so only the records of parts that have come since are looked at, whole, whatever parts
 * their other chunks came from.
 */
export function viralSoFarMethods(db: Database.Database) {
  const doneParts = db.prepare<[], DonePart>(
    `SELECT id, first_row AS firstRow, last_row AS lastRow, coalesce(rows_sha256, scores_sha256) AS seal
     FROM part WHERE state = 'done'`,
  );
  const callsOf = db
    .prepare<[number, number, number], [row: number, viral: number, scored: number]>(
      `SELECT row, sum(is_virus), count(*) FROM chunk
       WHERE row IN (SELECT DISTINCT row FROM chunk WHERE row BETWEEN ? AND ? AND part = ?) AND is_virus IS NOT NULL
       GROUP BY row`,
    )
    .raw();
  const { isViral } = viralRowMethods(db);
  const seals = new Map<number, string | null>();
  /** By row; a byte each, as there may be ten million. */
  let calls = new Uint8Array(0);
  const sum: ViralCount = { viral: 0, scored: 0 };

  function note(row: number, call: number): void {
    const before = calls[row]!;
    sum.scored += Number(before === UNKNOWN);
    sum.viral += Number(call === VIRAL) - Number(before === VIRAL);
    calls[row] = call;
  }

  function forget(): void {
    seals.clear();
    calls = new Uint8Array(0);
    Object.assign(sum, { viral: 0, scored: 0 });
  }

  function recount(): ViralCount {
    const done = new Map(doneParts.all().map((part) => [part.id, part]));
    if ([...seals].some(([id, seal]) => done.get(id)?.seal !== seal)) forget();
    for (const { id, firstRow, lastRow, seal } of done.values()) {
      if (seals.has(id)) continue;
      if (calls.length <= lastRow) {
        const longer = new Uint8Array(2 * (lastRow + 1));
        longer.set(calls);
        calls = longer;
      }
      // All of them at once: `isViral` asks the same connection.
      for (const [row, viral, scored] of callsOf.all(firstRow, lastRow, id))
        note(row, viral === scored || (viral > 0 && isViral(row)) ? VIRAL : OTHER);
      seals.set(id, seal);
    }
    return { ...sum };
  }

  function viralSoFar(): ViralCount {
    try {
      return recount();
    } catch (error) {
      // What was counted halfway must not stay.
      forget();
      throw error;
    }
  }

  return { viralSoFar: db.transaction(viralSoFar) };
}
