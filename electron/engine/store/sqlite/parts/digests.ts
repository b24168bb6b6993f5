import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../../contract/errors.ts';
import { inLittleMemory } from '../database.ts';
import { wrongCounts } from './preparedCounts.ts';
import { deleteChunksOf, findPart, type PartRow } from './partRows.ts';
import { forgetSequences } from '../results/derive/sequenceRows.ts';
import { readRun } from '../runRows.ts';
import { damageWords, isSound, NO_DAMAGE } from '../../damage.ts';
import type { DamageReport } from '../../types.ts';

/*
 * SQLite checks how its pages hang together, not what stands in them: a flipped bit in a score is a score like any other. So
 * what is stored of a settled part, of a file of records and of the plan has a SHA-256, taken in the transaction that stores it.
 */

const SETTLED = `state IN ('done', 'failed', 'skipped')`;

/** Columns as one text, those that may be without a value marked as such. Between them stand characters that no number has; a real number
 * is left out where there is one, since how it is written depends on the version of SQLite. */
function asText(columns: readonly string[]): string {
  return `concat_ws(char(31), ${columns.join(', ')})`;
}

const ifAny = (column: string): string => `coalesce(${column}, char(29))`;

const PART_TEXT = asText([
  ...['id', 'key', 'number', ifAny('parent'), 'sha256', 'frame_begin', 'frame_end', 'frames', 'residues'],
  ...['chunks', 'first_row', 'last_row', 'state', ifAny('scores_sha256'), ifAny('embeddings_sha256')],
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
  ...['row', 'input', 'byte_offset', 'length', 'n_chunks', 'n_frames', ifAny('reason'), 'name'],
  ifAny('header'),
]);
const INPUT_TEXT = asText(['input', 'path', 'size_bytes', 'sha256']);

/** Notes, tags and samples are the user's to change at any time. */
const OPTIONS_AS_MADE = `CASE WHEN json_valid(options)
  THEN json_remove(options, '$.annotation', '$.samples') ELSE options END`;

/** Rows handed over at once, as one text in UTF-8: far faster than one by one. */
const ROWS_AT_ONCE = 1024;

/** Takes the digest of what the database holds now. */
class Digests {
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

/** What is passed as bytes can't be read any more afterwards. */
function sha256(texts: Iterable<string | Buffer | null | undefined>): string {
  const hash = createHash('sha256');
  for (const text of texts) {
    hash.update(text ?? '').update('\n');
    if (text instanceof Buffer) giveBack(text);
  }
  return hash.digest('hex');
}

/** At once: V8 lets bytes that nobody uses any more grow to some 90 MB for each thread before it looks for them. */
function giveBack({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Writes digests, each inside the caller's transaction. */
export function sealMethods(db: Database.Database) {
  const digests = new Digests(db);
  const savePart = db.prepare('UPDATE part SET rows_sha256 = ? WHERE key = ?');
  const saveRecords = db.prepare('UPDATE records_file SET rows_sha256 = ? WHERE path = ?');
  return {
    /** Once the part is done, failed or skipped and its chunk rows are stored. */
    sealPart: (key: string): void => void savePart.run(digests.ofPart(key).sha256, key),
    sealRecords: (path: string, firstRow: number, count: number): void =>
      void saveRecords.run(digests.ofRecords(firstRow, count), path),
  };
}

/** Inside the transaction that makes the run. */
export function sealPlan(db: Database.Database): void {
  db.prepare('UPDATE run SET plan_sha256 = ?').run(new Digests(db).ofPlan());
}

/** Compares everything stored with its digests. What is stored is read once: about two seconds for a million chunks. */
export function findDamage(db: Database.Database): DamageReport {
  return inLittleMemory(db, () => readDamage(db));
}

function readDamage(db: Database.Database): DamageReport {
  const digests = new Digests(db);
  const settled = db
    .prepare<[], { key: string; rows_sha256: string | null }>(
      `SELECT key, rows_sha256 FROM part NOT INDEXED WHERE ${SETTLED} ORDER BY number, key`,
    )
    .all();
  const files = db
    .prepare<[], { path: string; first_row: number; count: number; rows_sha256: string | null }>(
      'SELECT path, first_row, count, rows_sha256 FROM records_file ORDER BY first_row',
    )
    .all();
  const found = settled.map(({ key, rows_sha256 }) => ({ key, sealed: rows_sha256, ...digests.ofPart(key) }));
  const stored = db.prepare<[], number>('SELECT count(*) FROM chunk').pluck().get() ?? 0;
  const { prepared } = readRun(db);
  const wrong = prepared === null ? [] : wrongCounts(db, prepared);
  return {
    plan: isPlanDamaged(db, digests),
    counts: wrong.length === 0 ? null : wrong.join('; '),
    index: isIndexDamaged(db),
    parts: found.filter(({ sealed, sha256 }) => sealed !== sha256).map(({ key }) => key),
    recordFiles: files
      .filter(({ first_row, count, rows_sha256 }) => rows_sha256 !== digests.ofRecords(first_row, count))
      .map(({ path }) => path),
    strayChunks: stored - found.reduce((sum, { chunks }) => sum + chunks, 0),
  };
}

function isPlanDamaged(db: Database.Database, digests: Digests): boolean {
  const sealed = db.prepare<[], string | null>('SELECT plan_sha256 FROM run').pluck().get();
  return sealed !== digests.ofPlan();
}

function isIndexDamaged(db: Database.Database): boolean {
  return db.pragma('integrity_check(part)', { simple: true }) !== 'ok';
}

/** Raises where the plan, or what is said of the inputs, is not what the run was made with: nothing can make that good. */
export function refuseDamagedPlan(db: Database.Database): void {
  if (isPlanDamaged(db, new Digests(db)))
    throw new AppFailure(appError('run_damaged', damageWords({ ...NO_DAMAGE, plan: true })));
}

/** Makes the index of the parts anew if it does not fit them; answers whether it did not. */
export function repairIndex(db: Database.Database): boolean {
  const isDamaged = isIndexDamaged(db);
  if (isDamaged) db.exec('REINDEX part');
  return isDamaged;
}

/**
 * Makes ready what is damaged to be computed again: damaged parts wait, and where records or counts are damaged, the inputs are
 * read again. A damaged plan can't be made good, and nothing is done then.
 */
export function repairDamage(db: Database.Database): DamageReport {
  const damage = findDamage(db);
  if (damage.plan) return damage;
  if (isSound(damage)) return damage;
  // Before anything is looked for by it.
  if (damage.index) repairIndex(db);
  const pend = db.prepare(
    `UPDATE part SET state = 'pending', attempts = 0, device = NULL, seconds = NULL, rows_sha256 = NULL, scores_sha256 = NULL,
       failure_code = NULL, failure_message = NULL WHERE key = ?`,
  );
  let readAgain = damage.recordFiles.length > 0 || damage.counts !== null;
  for (const key of damage.parts) {
    const part = readablePart(db, key);
    if (part) {
      deleteChunksOf(db, part);
      pend.run(key);
    } else {
      // Prepare reports it, and what it was cut into, as if for the first time.
      const [root = key] = key.split('.');
      db.prepare(`DELETE FROM part WHERE key = ? OR substr(key, 1, ?) = ?`).run(
        root,
        root.length + 1,
        `${root}.`,
      );
      readAgain = true;
    }
  }
  db.exec(
    `DELETE FROM chunk WHERE NOT EXISTS (SELECT 1 FROM part WHERE part.id = chunk.part AND ${SETTLED}
       AND chunk.row BETWEEN part.first_row AND part.last_row)`,
  );
  const forget = db.prepare('DELETE FROM records_file WHERE path = ?');
  for (const path of damage.recordFiles) forget.run(path);
  if (readAgain) db.prepare('UPDATE run SET prepared = NULL').run();
  forgetSequences(db);
  return damage;
}

/** Null where what stands of the part can't be of any. */
function readablePart(db: Database.Database, key: string): PartRow | null {
  try {
    return findPart(db, key);
  } catch {
    return null;
  }
}

/** Before results are derived: raises where they would not be those of the run. */
export function refuseDamage(db: Database.Database): void {
  const damage = findDamage(db);
  if (isSound(damage)) return;
  const nextStep = 'Resume the run: what is damaged is computed again.';
  throw new AppFailure(appError('run_damaged', damageWords(damage), damage.plan ? {} : { nextStep }));
}
