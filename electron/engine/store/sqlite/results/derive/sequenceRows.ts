import type Database from 'better-sqlite3';
import { inLittleMemory } from '../../database.ts';
import { SEQUENCE_INDEXES } from '../../runSchema.ts';
import { countRecords, type CountedRecord } from './recordScan.ts';
import { recordSummaries } from './recordSummaries.ts';
import { refuseUnfinished } from '../refuseUnfinished.ts';
import { evidenceOf } from '../../../../results/evidence.ts';
import type { SequenceSummary } from '../../../../results/sequenceTally.ts';
import { EVIDENCE_RANK } from '../evidenceRank.ts';

const COLUMNS = 12;
/** As many rows as one statement takes: half the time of a statement for each. */
const ROWS_PER_INSERT = 64;

type Value = number | string | null;

/** Derives the sequence results from the chunk rows: one transaction. Its indexes are made by `indexSequences`. */
export function deriveSequences(db: Database.Database): void {
  refuseUnfinished(db);
  const derive = db.transaction(() => {
    for (const { name } of SEQUENCE_INDEXES) db.exec(`DROP INDEX IF EXISTS ${name}`);
    db.exec('DELETE FROM main.sequence');
    const rows = new SequenceRows(db, 'main');
    for (const { record, summary } of recordSummaries(db, countRecords(db))) rows.add(record, summary);
    rows.flush();
  });
  inLittleMemory(db, () => derive.immediate());
}

/** All of them, as some part that they rest on is to be computed again. */
export function forgetSequences(db: Database.Database): void {
  db.exec('DELETE FROM main.sequence');
}

interface StoredSummary {
  prediction: string;
  reason: string | null;
  virus_score: number | null;
  n_chunks_scored: number;
  n_chunks_viral: number;
  n_frames_scored: number;
  best_chunk: number | null;
  best_frame: number | null;
  best_score: number | null;
  second_score: number | null;
  evidence: number | null;
}

/** How many of the derived sequence results are not what the chunk rows give. */
export function wrongSequences(db: Database.Database): number {
  const stored = db.prepare<[number], StoredSummary>('SELECT * FROM main.sequence WHERE row = ?');
  let records = 0;
  let wrong = 0;
  for (const { record, summary } of recordSummaries(db, countRecords(db))) {
    records += 1;
    const found = stored.get(record.row);
    const same =
      found?.prediction === summary.prediction &&
      (found.reason ?? 'ok') === summary.reason &&
      found.virus_score === summary.virusScore &&
      found.n_chunks_scored === summary.nChunksScored &&
      found.n_chunks_viral === summary.nChunksViral &&
      found.n_frames_scored === summary.nFramesScored &&
      found.best_chunk === summary.bestChunk &&
      found.best_frame === summary.bestFrame &&
      found.best_score === summary.bestScore &&
      found.second_score === summary.secondScore &&
      found.evidence === evidenceRank(record, summary);
    if (!same) wrong += 1;
  }
  const all = db.prepare<[], number>('SELECT count(*) FROM main.sequence').pluck().get() ?? 0;
  return wrong + Math.max(0, all - records);
}

function evidenceRank({ length, nChunks }: CountedRecord, summary: SequenceSummary): number | null {
  const evidence = evidenceOf({ ...summary, length, nChunks });
  return evidence && EVIDENCE_RANK[evidence];
}

export function indexSequences(db: Database.Database): void {
  inLittleMemory(db, () => {
    for (const { create } of SEQUENCE_INDEXES) db.exec(create);
  });
}

/** Inserts many rows at once, into the lasting table or the one of this connection; what was known of a row before is replaced. */
export class SequenceRows {
  readonly #one: Database.Statement<Value[]>;
  readonly #many: Database.Statement<Value[]>;
  #values: Value[] = [];

  constructor(db: Database.Database, schema: 'main' | 'temp') {
    this.#one = db.prepare(insertion(schema, 1));
    this.#many = db.prepare(insertion(schema, ROWS_PER_INSERT));
  }

  add(record: CountedRecord, summary: SequenceSummary): void {
    const { prediction, reason, virusScore, nChunksScored, nChunksViral, nFramesScored } = summary;
    const { bestChunk, bestFrame, bestScore, secondScore } = summary;
    const { row } = record;
    const rank = evidenceRank(record, summary);
    const storedReason = reason === 'ok' ? null : reason;
    this.#values.push(row, prediction, storedReason, virusScore, nChunksScored, nChunksViral, nFramesScored, bestChunk, bestFrame, bestScore, secondScore, rank); // prettier-ignore
    if (this.#values.length < COLUMNS * ROWS_PER_INSERT) return;
    this.#many.run(...this.#values);
    this.#values = [];
  }

  flush(): void {
    for (let i = 0; i < this.#values.length; i += COLUMNS)
      this.#one.run(...this.#values.slice(i, i + COLUMNS));
    this.#values = [];
  }
}

function insertion(schema: 'main' | 'temp', rows: number): string {
  const row = `(${Array<string>(COLUMNS).fill('?').join(', ')})`;
  return `INSERT OR REPLACE INTO ${schema}.sequence VALUES ${Array<string>(rows).fill(row).join(', ')}`;
}
