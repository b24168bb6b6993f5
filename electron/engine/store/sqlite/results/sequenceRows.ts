import type Database from 'better-sqlite3';
import { SEQUENCE_INDEXES } from '../runSchema.ts';
import { countRecords, type CountedRecord } from './recordScan.ts';
import { recordSummaries } from './recordSummaries.ts';
import { refuseUnfinished } from './refuseUnfinished.ts';
import { evidenceOf } from '../../../results/evidence.ts';
import type { SequenceSummary } from '../../../results/sequenceTally.ts';
import { EVIDENCE_RANK } from './evidenceRank.ts';

const COLUMNS = 12;
/** As many rows as one statement takes: half the time of a statement for each. */
const ROWS_PER_INSERT = 64;

type Value = number | string | null;

/** Derives the sequence results from the chunk rows: one transaction. Its indexes are made by `indexSequences`. */
export function deriveSequences(db: Database.Database): void {
  refuseUnfinished(db);
  const derive = db.transaction(() => {
    for (const { name } of SEQUENCE_INDEXES) db.exec(`DROP INDEX IF EXISTS ${name}`);
    db.exec('DELETE FROM sequence');
    const rows = new SequenceRows(db);
    for (const { record, summary } of recordSummaries(db, countRecords(db))) rows.add(record, summary);
    rows.flush();
  });
  derive.immediate();
}

export function indexSequences(db: Database.Database): void {
  for (const { create } of SEQUENCE_INDEXES) db.exec(create);
}

/** Inserts many rows at once. */
class SequenceRows {
  readonly #one: Database.Statement<Value[]>;
  readonly #many: Database.Statement<Value[]>;
  #values: Value[] = [];

  constructor(db: Database.Database) {
    this.#one = db.prepare(insertion(1));
    this.#many = db.prepare(insertion(ROWS_PER_INSERT));
  }

  add({ row, length, nChunks }: CountedRecord, summary: SequenceSummary): void {
    const { prediction, reason, virusScore, nChunksScored, nChunksViral, nFramesScored } = summary;
    const { bestChunk, bestFrame, bestScore, secondScore } = summary;
    const evidence = evidenceOf({ ...summary, length, nChunks });
    const rank = evidence && EVIDENCE_RANK[evidence];
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

function insertion(rows: number): string {
  const row = `(${Array<string>(COLUMNS).fill('?').join(', ')})`;
  return `INSERT INTO sequence VALUES ${Array<string>(rows).fill(row).join(', ')}`;
}
