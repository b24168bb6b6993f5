import type { SequenceFilter, SequenceSort } from '../../../../contract/rpc/results.ts';
import { EVIDENCE_RANK } from './evidenceRank.ts';

export interface SqlFilter {
  /** Empty, or begins with WHERE; speaks of `sequence s JOIN record r`. */
  where: string;
  values: (string | number)[];
}

/** Which sequences a user wants to see; `rows` instead of a filter where they were picked one by one. */
export interface SequenceSelection {
  filter: SequenceFilter;
  rows?: readonly number[] | undefined;
}

export function selectionSql({ filter, rows }: SequenceSelection): SqlFilter {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...used: (string | number)[]): void => {
    conditions.push(condition);
    values.push(...used);
  };
  // As one JSON value: SQLite limits how many parameters a statement may have.
  if (rows) add('s.row IN (SELECT value FROM json_each(?))', JSON.stringify(rows));
  if (filter.input !== undefined) add('r.input = ?', filter.input);
  if (filter.inputs) add('r.input IN (SELECT value FROM json_each(?))', JSON.stringify(filter.inputs));
  if (filter.predictions) {
    add(`s.prediction IN (${filter.predictions.map(() => '?').join(', ')})`, ...filter.predictions);
  }
  if (filter.minScore !== undefined) add('s.virus_score >= ?', filter.minScore);
  if (filter.minLength !== undefined) add('r.length >= ?', filter.minLength);
  if (filter.maxLength !== undefined) add('r.length <= ?', filter.maxLength);
  if (filter.minScoredChunks !== undefined) add('s.n_chunks_scored >= ?', filter.minScoredChunks);
  if (filter.evidence) {
    const ranks = filter.evidence.map((level) => EVIDENCE_RANK[level]);
    add(`s.evidence IN (${ranks.map(() => '?').join(', ')})`, ...ranks);
  }
  if (filter.search) {
    const pattern = `%${filter.search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    add(String.raw`(r.name LIKE ? ESCAPE '\' OR r.header LIKE ? ESCAPE '\')`, pattern, pattern);
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', values };
}

const ORDER_COLUMN: Record<SequenceSort['by'], string> = {
  row: 's.row',
  seqName: 'r.name',
  length: 'r.length',
  virusScore: 's.virus_score',
  viralFraction: 'CAST(s.n_chunks_viral AS REAL) / nullif(s.n_chunks_scored, 0)',
  nChunks: 'r.n_chunks',
  prediction: 's.prediction',
  evidence: 's.evidence',
};

/** Without a value they come last, whichever way the rest is sorted. Equal ones stay in the order of the run. */
export function orderSql({ by, descending }: SequenceSort): string {
  const direction = descending ? 'DESC' : 'ASC';
  if (by === 'row') return `ORDER BY s.row ${direction}`;
  return `ORDER BY ${ORDER_COLUMN[by]} ${direction} NULLS LAST, s.row`;
}
