import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';

/*
 * SQLite checks the structure of its pages, not their content: a score with a flipped bit is a score like any
 * other. So the rows of a settled part, the records of a file and the plan each have a SHA-256, computed in
 * the transaction that stores them.
 */

/**
 * Joins columns into one text with a separator that no number contains; `ifAny` marks NULL. Columns of real
 * numbers are left out, because SQLite's text for them depends on its version.
 */
function asText(columns: readonly string[]): string {
  return `concat_ws(char(31), ${columns.join(', ')})`;
}

const ifAny = (column: string): string => `coalesce(${column}, char(29))`;

const PART_TEXT = asText([
  ...['id', 'key', 'number', ifAny('parent'), 'sha256', 'frame_begin', 'frame_end', 'frames', 'residues'],
  ...[
    'chunks',
    'first_row',
    'last_row',
    'round',
    'state',
    ifAny('scores_sha256'),
    ifAny('embeddings_sha256'),
  ],
  ...['recomputed_fp32', 'frames_failed', 'frames_outside_norm_band', 'batch_halvings', 'bisected'],
  ...[ifAny('failure_code'), ifAny('failure_message'), 'repeated_proteins', 'repeated_nucleotides'],
]);
const CHUNK_TEXT = asText([
  ...[
    'row',
    'chunk',
    'part',
    'frames',
    'unscored',
    'fp32',
    ifAny('is_virus'),
    'hex(scores)',
    ifAny('reason'),
  ],
]);
const RECORD_TEXT = asText([
  ...[
    'row',
    'input',
    'byte_offset',
    'length',
    'n_chunks',
    'n_frames',
    'n_lost',
    'n_lost_to_tag',
    'n_lost_to_tga',
  ],
  ...[
    ifAny('genetic_code'),
    ifAny('terminal_repeat'),
    ifAny('terminal_repeat_length'),
    ifAny('reason'),
    'name',
  ],
  ifAny('header'),
]);
const INPUT_TEXT = asText(['input', 'path', 'size_bytes', 'sha256']);

/** The user may change notes, tags, samples and the goal at any time. */
const OPTIONS_AS_MADE = `CASE WHEN json_valid(options)
  THEN json_remove(options, '$.annotation', '$.samples', '$.sampleDetails', '$.goal') ELSE options END`;

/** Rows fetched as one text, which is far faster than fetching them one by one. */
const ROWS_AT_ONCE = 1024;

/** Computes digests of the database's current content. */
export class Digests {
  private readonly part: Database.Statement<[string], string>;
  private readonly chunks: Database.Statement<[string], { text: Buffer | null; rows: number }>;
  private readonly records: Database.Statement<[number, number], Buffer | null>;
  private readonly db: Database.Database;

  constructor(db: Database.Database) {
    this.db = db;
    this.part = db.prepare<[string], string>(`SELECT ${PART_TEXT} FROM part WHERE key = ?`).pluck();
    this.chunks = db.prepare<[string], { text: Buffer | null; rows: number }>(
      `SELECT CAST(group_concat(text, char(30)) AS BLOB) AS text, count(*) AS rows FROM (
         SELECT ${CHUNK_TEXT} AS text FROM (SELECT id, first_row, last_row FROM part WHERE key = ?) AS own
         CROSS JOIN chunk ON chunk.row BETWEEN own.first_row AND own.last_row AND chunk.part = own.id
         ORDER BY chunk.row, chunk.chunk)`,
    );
    this.records = db
      .prepare<[number, number], Buffer | null>(
        `SELECT CAST(group_concat(text, char(30)) AS BLOB) FROM (
           SELECT ${RECORD_TEXT} AS text FROM record WHERE row BETWEEN ? AND ? ORDER BY row)`,
      )
      .pluck();
  }

  ofPart(key: string): { sha256: string; chunks: number } {
    const { text = null, rows = 0 } = this.chunks.get(key) ?? {};
    return { sha256: sha256([this.part.get(key), text]), chunks: rows };
  }

  ofRecords(firstRow: number, count: number): string {
    return sha256(this.recordPages(firstRow, firstRow + count));
  }

  private *recordPages(begin: number, end: number): Generator<Buffer | null | undefined> {
    for (let row = begin; row < end; row += ROWS_AT_ONCE)
      yield this.records.get(row, Math.min(row + ROWS_AT_ONCE, end) - 1);
  }

  ofPlan(): string {
    const plan = this.db.prepare<[], string>('SELECT plan FROM plan').pluck().get();
    const run = this.db.prepare<[], string>(
      `SELECT ${asText(['run_id', 'created_at', OPTIONS_AS_MADE])} FROM run`,
    );
    const inputs = this.db.prepare<[], string>(`SELECT ${INPUT_TEXT} FROM input ORDER BY input`).pluck();
    return sha256([plan, run.pluck().get(), ...inputs.all()]);
  }
}

/** Detaches the buffers among the texts, which can't be read any more afterwards. */
function sha256(texts: Iterable<string | Buffer | null | undefined>): string {
  const hash = createHash('sha256');
  for (const text of texts) {
    hash.update(text ?? '').update('\n');
    if (text instanceof Buffer) giveBack(text);
  }
  return hash.digest('hex');
}

/** Frees the memory at once: V8 lets unused buffers grow to some 90 MB per thread before it collects them. */
function giveBack({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Writes digests, each inside the caller's transaction. */
export function sealMethods(db: Database.Database) {
  const digests = new Digests(db);
  const savePart = db.prepare('UPDATE part SET rows_sha256 = ? WHERE key = ?');
  const saveRecords = db.prepare('UPDATE records_file SET rows_sha256 = ? WHERE path = ?');
  return {
    /** Call it once the part is done, failed or skipped and its chunk rows are stored. */
    sealPart: (key: string): void => void savePart.run(digests.ofPart(key).sha256, key),
    sealRecords: (path: string, firstRow: number, count: number): void =>
      void saveRecords.run(digests.ofRecords(firstRow, count), path),
  };
}

/** Call it inside the transaction that creates the run. */
export function sealPlan(db: Database.Database): void {
  db.prepare('UPDATE run SET plan_sha256 = ?').run(new Digests(db).ofPlan());
}
