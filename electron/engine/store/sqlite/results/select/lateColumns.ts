import type Database from 'better-sqlite3';
import { reasonSchema } from '../../../../../contract/results.ts';
import { chunkBounds } from '../../../../results/chunkLayout.ts';
import { readPlan } from '../../runRows.ts';
import type { ResultColumns } from '../resultColumns.ts';

/** In the order in which a table sorted by reason shows them; those without one come last, as all without a value do. */
export const REASONS = reasonSchema.exclude(['ok']).options;

const EXPRESSIONS = {
  bestScore: 'best_score',
  secondScore: 'second_score',
  bestChunkStart: 'best_chunk',
  nFramesScored: 'n_frames_scored',
  reason: `CASE reason ${REASONS.map((name, code) => `WHEN '${name}' THEN ${code}`).join(' ')} END`,
} as const;
export type LateColumn = keyof typeof EXPRESSIONS;

const ROWS_PER_READ = 16_384;

/**
 * Columns that few look for: read into memory when somebody does, which takes a quarter of a second for a million sequences. Index i
 * is that of the other columns; NaN where there is no value.
 */
export function lateColumns(
  db: Database.Database,
  { count, row, length }: ResultColumns,
): (name: LateColumn) => Float64Array {
  const known = new Map<LateColumn, Float64Array>();
  function read(name: LateColumn): Float64Array {
    const page = db
      .prepare<[number, number], number | null>(
        `SELECT ${EXPRESSIONS[name]} FROM sequence WHERE row > ? ORDER BY row LIMIT ?`,
      )
      .pluck();
    const values = new Float64Array(count);
    for (let filled = 0; filled < count;) {
      const found = page.all(filled === 0 ? -1 : row[filled - 1]!, Math.min(ROWS_PER_READ, count - filled));
      if (found.length === 0) throw new Error('A sequence is gone.');
      for (const value of found) values[filled++] = value ?? NaN;
    }
    if (name !== 'bestChunkStart') return values;
    const { chunkLength } = readPlan(db);
    return values.map((chunk, i) =>
      Number.isNaN(chunk) ? NaN : chunkBounds(length[i]!, chunkLength, chunk).start + 1,
    );
  }
  return (name) => {
    const values = known.get(name) ?? read(name);
    known.set(name, values);
    return values;
  };
}
