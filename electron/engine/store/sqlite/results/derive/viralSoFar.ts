import type Database from 'better-sqlite3';

export interface ViralSoFar {
  viral: number;
  scored: number;
}

interface DonePart {
  id: number;
  firstRow: number;
  lastRow: number;
  seal: string | null;
}

interface CountedPart extends DonePart {
  /** Of its records but the first and the last, which may go on in the neighbouring parts. */
  inner: ViralSoFar;
}

/**
 * Sequences called virus among those with a score, by the rule of SequenceTally, while a run grows. A pass over all chunks takes
 * more than a second for ten million, so what a part holds is counted once, and again only when other rows stand in it.
 */
export function viralSoFarMethods(db: Database.Database) {
  const doneParts = db.prepare<[], DonePart>(
    `SELECT id, first_row AS firstRow, last_row AS lastRow, coalesce(rows_sha256, scores_sha256) AS seal
     FROM part WHERE state = 'done'`,
  );
  // Both ends included.
  const countRows = db.prepare<[number, number], { viral: number | null; scored: number }>(
    `SELECT sum(viral) AS viral, count(*) AS scored FROM (
       SELECT 2 * sum(is_virus) >= count(*) AS viral FROM chunk
       WHERE row BETWEEN ? AND ? AND is_virus IS NOT NULL GROUP BY row)`,
  );
  const parts = new Map<number, CountedPart>();
  /** Records at either end of a part. */
  const ends = new Map<number, ViralSoFar>();
  const sum: ViralSoFar = { viral: 0, scored: 0 };

  function count(from: number, to: number): ViralSoFar {
    if (from > to) return { viral: 0, scored: 0 };
    const { viral, scored } = countRows.get(from, to) ?? { viral: null, scored: 0 };
    return { viral: viral ?? 0, scored };
  }

  function add({ viral, scored }: ViralSoFar, sign: 1 | -1): void {
    sum.viral += sign * viral;
    sum.scored += sign * scored;
  }

  function forget(): void {
    parts.clear();
    ends.clear();
    Object.assign(sum, { viral: 0, scored: 0 });
  }

  function recount(): ViralSoFar {
    const done = new Map(doneParts.all().map((part) => [part.id, part]));
    const changedEnds = new Set<number>();
    for (const part of parts.values()) {
      if (isSame(part, done.get(part.id))) continue;
      add(part.inner, -1);
      changedEnds.add(part.firstRow).add(part.lastRow);
      parts.delete(part.id);
    }
    for (const part of done.values()) {
      if (parts.has(part.id)) continue;
      const inner = count(part.firstRow + 1, part.lastRow - 1);
      add(inner, 1);
      changedEnds.add(part.firstRow).add(part.lastRow);
      parts.set(part.id, { ...part, inner });
    }
    // Whole, whatever part their chunks came from.
    for (const row of changedEnds) {
      add(ends.get(row) ?? { viral: 0, scored: 0 }, -1);
      const end = count(row, row);
      add(end, 1);
      ends.set(row, end);
    }
    return { ...sum };
  }

  function viralSoFar(): ViralSoFar {
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

function isSame(known: DonePart, now: DonePart | undefined): boolean {
  return now?.seal === known.seal && now.firstRow === known.firstRow && now.lastRow === known.lastRow;
}
