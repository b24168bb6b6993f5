import type Database from 'better-sqlite3';
import { appFailure } from '../../../../contract/errors.ts';
import type {
  InputDone,
  InputProblem,
  PreparedPart,
  PrepareDone,
  RecordsFile,
} from '../../../../contract/protocol/index.ts';
import { endAttemptsOf, deleteChunksOf, findPart, partPath, type PartRow } from './partRows.ts';
import type { Reason } from '../../../../contract/results.ts';
import { isFileError, readSafetensors, SafetensorsError } from '../files/safetensorsFile.ts';
import { repairDamage, wrongCounts } from './damage.ts';
import { sealMethods } from './digests.ts';
import { takingOver } from './earlierParts.ts';
import type { Said } from '../../../../contract/problems.ts';
import type { Registered } from '../../types.ts';

/**
 * Stores prepare's reports. A second prepare over the same inputs changes nothing. `openEarlier`: opens the
 * database of the run whose results are taken over, if there is one.
 */
export function prepareIntakeMethods(
  db: Database.Database,
  folder: string,
  openEarlier: () => Database.Database | null,
) {
  let earlier: Database.Database | null | undefined;
  let takeOver: ((part: PartRow) => void) | null = null;
  const knownFile = db.prepare<[string], string>('SELECT sha256 FROM records_file WHERE path = ?').pluck();
  const saveFile = db.prepare(
    'INSERT OR REPLACE INTO records_file (path, sha256, first_row, count) VALUES (?, ?, ?, ?)',
  );
  const saveRecord = db.prepare(`
    INSERT OR REPLACE INTO record (row, input, byte_offset, length, n_chunks, n_frames, n_lost, n_lost_to_tag, n_lost_to_tga,
      genetic_code, terminal_repeat, terminal_repeat_length, reason, name, header)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const saveProblem = db.prepare(
    'INSERT OR REPLACE INTO input_problem (input, code, variables, count, examples) VALUES (?, ?, ?, ?, ?)',
  );
  const inputHash = db.prepare<[number], string>('SELECT sha256 FROM input WHERE input = ?').pluck();
  const saveInput = db.prepare('UPDATE input SET records = ?, bases = ?, first_row = ? WHERE input = ?');
  const saveInputFailure = db.prepare('UPDATE input SET failure = ? WHERE input = ?');
  const forgetInputs = db.prepare(
    'UPDATE input SET records = NULL, bases = NULL, first_row = NULL WHERE input >= ?',
  );
  const rowsBefore = db
    .prepare<[number], number>('SELECT coalesce(max(first_row + records), 0) FROM input WHERE input < ?')
    .pluck();
  const wasRead = db.prepare<[number], number | null>('SELECT records FROM input WHERE input = ?').pluck();
  const savePrepared = db.prepare('UPDATE run SET prepared = ?');

  const { sealRecords } = sealMethods(db);

  function ingestRecords(event: RecordsFile): Registered {
    const known = knownFile.get(event.path);
    if (known === event.sha256) return 'known';
    try {
      for (const record of readRecords(folder, event)) {
        const { row, input, byteOffset, length, chunks, frames, reason, name, header } = record;
        const { lost, geneticCode, repeat, repeatLength } = record;
        saveRecord.run(
          ...[row, input, byteOffset, length, chunks, frames, ...lost],
          ...[geneticCode, repeat, repeatLength, reason, name, header],
        );
      }
    } catch (error) {
      if (error instanceof SafetensorsError || isFileError(error))
        throw appFailure('prepare_failed', `${event.path} is damaged: ${error.message}`);
      throw error;
    }
    saveFile.run(event.path, event.sha256, event.first_row, event.count);
    sealRecords(event.path, event.first_row, event.count);
    return known === undefined ? 'new' : 'replaced';
  }

  function finishInput(event: InputDone): void {
    const planned = inputHash.get(event.input);
    if (planned !== event.sha256) {
      const cause = `Input ${event.input} has another content than when the run was created.`;
      throw appFailure('input_changed', cause, { detail: `${planned} -> ${event.sha256}` });
    }
    saveInput.run(event.records, event.bases, event.first_row, event.input);
  }

  function finishPrepare(done: PrepareDone): void {
    deleteBeyond(db, done);
    const wrong = wrongCounts(db, done);
    if (wrong.length > 0) {
      const cause = 'What was read from the inputs does not add up to what was reported.';
      throw appFailure('prepare_failed', cause, { detail: wrong.join('; ') });
    }
    savePrepared.run(JSON.stringify(done));
  }

  function takeNewPart(event: PreparedPart): Registered {
    const registered = registerPart(db, event);
    if (registered === 'known') return registered;
    if (earlier === undefined) {
      earlier = openEarlier();
      takeOver = earlier && takingOver(db, earlier);
    }
    takeOver?.(findPart(db, event.key)!);
    return registered;
  }

  function closeEarlier(): void {
    earlier?.close();
    earlier = undefined;
  }

  /**
   * The run goes on without this input, so the rows from its first one on will be those of other sequences:
   * nothing that is stored of them may remain until then. Returns the first of them.
   */
  function failInput(input: number, failure: Said): number {
    const firstRow = rowsBefore.get(input)!;
    saveInputFailure.run(JSON.stringify(failure), input);
    forgetInputs.run(input);
    forgetFrom(db, firstRow);
    return firstRow;
  }

  /**
   * What was read of this input, and computed of that, may be of no file that there ever was. What an earlier
   * reading to its end has left is of the right file.
   */
  function forgetChanged(input: number): void {
    if (wasRead.get(input) === null) forgetFrom(db, rowsBefore.get(input)!);
  }

  return {
    ingestRecords: db.transaction(ingestRecords),
    registerPart: db.transaction(takeNewPart),
    addInputProblem: ({ input, code, values, count, examples }: InputProblem): void => {
      saveProblem.run(input, code, JSON.stringify(values), count, JSON.stringify(examples));
    },
    finishInput,
    failInput: db.transaction(failInput),
    forgetChanged: db.transaction(forgetChanged),
    finishPrepare: (done: PrepareDone): void => {
      closeEarlier();
      db.transaction(finishPrepare)(done);
    },
    invalidatePrepare: (): void => void savePrepared.run(null),
    repairDamage: db.transaction(() => repairDamage(db)),
  };
}

function registerPart(db: Database.Database, event: PreparedPart): Registered {
  if (event.path !== partPath(event.key)) {
    const cause = `Part ${event.key} was written to ${event.path}, where it does not belong.`;
    throw appFailure('prepare_failed', cause);
  }
  const known = findPart(db, event.key);
  const columns = [
    event.sha256, event.frames, event.frames, event.residues, event.chunks, event.first_row, event.last_row, event.round,
  ]; // prettier-ignore
  if (!known) {
    db.prepare(
      `INSERT INTO part (sha256, frame_begin, frame_end, frames, residues, chunks, first_row, last_row, round, state, key, number)
       VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    ).run(...columns, event.key, Number(event.key));
    return 'new';
  }
  if (isSamePart(known, event)) return 'known';
  forgetResults(db, known);
  db.prepare(
    `UPDATE part SET sha256 = ?, frame_begin = 0, frame_end = ?, frames = ?, residues = ?, chunks = ?,
       first_row = ?, last_row = ?, round = ?, state = 'pending', attempts = 0, device = NULL, seconds = NULL, scores_sha256 = NULL,
       embeddings_sha256 = NULL, recomputed_fp32 = 0, frames_failed = 0, frames_outside_norm_band = 0, esm2_norm_low = NULL,
       esm2_norm_high = NULL, dnabert_s_norm_low = NULL, dnabert_s_norm_high = NULL,
       batch_halvings = 0, repeated_proteins = 0, repeated_nucleotides = 0, bisected = 0, failure_code = NULL, failure_message = NULL,
       rows_sha256 = NULL
     WHERE key = ?`,
  ).run(...columns, event.key);
  return 'replaced';
}

/** Compares all of run.db's facts besides the hash, because they may be damaged. */
function isSamePart(known: PartRow, event: PreparedPart): boolean {
  return (
    known.sha256 === event.sha256 &&
    known.frameBegin === 0 &&
    known.frames === event.frames &&
    known.residues === event.residues &&
    known.chunks === event.chunks &&
    known.firstRow === event.first_row &&
    known.lastRow === event.last_row &&
    known.round === event.round
  );
}

/** Deletes the chunk rows of a part from prepare and of the parts it was cut into, and those parts. */
function forgetResults(db: Database.Database, root: PartRow): void {
  const keys = db.prepare<[number], string>('SELECT key FROM part WHERE number = ?').pluck().all(root.number);
  for (const key of keys) {
    const part = findPart(db, key);
    if (part) deleteChunksOf(db, part);
    endAttemptsOf(db, key, { outcome: 'interrupted', endedAt: Date.now() });
  }
  db.prepare('DELETE FROM part WHERE number = ? AND parent IS NOT NULL').run(root.number);
}

function forgetFrom(db: Database.Database, row: number): void {
  const keys = db
    .prepare<[number], string>('SELECT key FROM part WHERE last_row >= ? AND parent IS NULL')
    .pluck()
    .all(row);
  const deletePart = db.prepare('DELETE FROM part WHERE key = ?');
  for (const key of keys) {
    forgetResults(db, findPart(db, key)!);
    deletePart.run(key);
  }
  db.prepare('DELETE FROM record WHERE row >= ?').run(row);
  db.prepare('DELETE FROM records_file WHERE first_row + count > ?').run(row);
}

/** Deletes what an earlier prepare left beyond this one's counts. */
function deleteBeyond(db: Database.Database, done: PrepareDone): void {
  const keys = db.prepare<[number], string>('SELECT key FROM part WHERE number >= ?').pluck().all(done.parts);
  for (const key of keys) {
    const part = findPart(db, key);
    if (part) deleteChunksOf(db, part);
  }
  db.prepare('DELETE FROM part WHERE number >= ?').run(done.parts);
  db.prepare('DELETE FROM record WHERE row >= ?').run(done.records);
  db.prepare('DELETE FROM records_file WHERE first_row >= ?').run(done.records);
}

/** The meaning of the numbers in the `reason` array. */
const REASON_BY_NUMBER: readonly Reason[] = [
  ...(['ok', 'empty', 'invalid_characters', 'malformed_record'] as const),
  'below_min_length',
];

/** The meaning of the numbers in the `repeat_kind` array. */
const REPEAT_BY_NUMBER = [null, 'DTR', 'ITR'] as const;

interface RecordRow {
  row: number;
  input: number;
  byteOffset: number;
  length: number;
  chunks: number;
  frames: number;
  lost: readonly [all: number, toTag: number, toTga: number];
  geneticCode: number | null;
  repeat: 'DTR' | 'ITR' | null;
  repeatLength: number | null;
  /** Null if the record can be scored. */
  reason: Reason | null;
  name: string;
  /** Null if the whole header line is the name. */
  header: string | null;
}

/** Reads the rows of a records file, after checking its hash and its counts. Throws SafetensorsError. */
export function* readRecords(folder: string, event: RecordsFile): Generator<RecordRow> {
  const file = readSafetensors(folder, event.path, event.sha256);
  const n = event.count;
  const rows = file.u32('row', n);
  const inputs = file.u32('input', n);
  const byteOffsets = file.u64('byte_offset', n);
  const lengths = file.u64('length', n);
  const chunks = file.u32('n_chunks', n);
  const frames = file.u32('n_frames', n);
  const lost = file.u32('n_lost', n);
  const lostToTag = file.u32('n_lost_to_tag', n);
  const lostToTga = file.u32('n_lost_to_tga', n);
  const geneticCodes = file.u8('genetic_code', n);
  const repeatKinds = file.u8('repeat_kind', n);
  const repeatLengths = file.u32('repeat_length', n);
  const reasons = file.u8('reason', n);
  const headerBytes = file.u8('header');
  const headerOffsets = file.u64('header_offsets', n + 1);
  const nameBytes = file.u32('name_bytes', n);
  const text = Buffer.from(headerBytes.buffer, headerBytes.byteOffset, headerBytes.byteLength);
  for (let i = 0; i < n; i++) {
    const reason = REASON_BY_NUMBER[reasons[i]!];
    if (rows[i] !== event.first_row + i)
      throw new SafetensorsError(`its rows don't count up from ${event.first_row}`);
    if (!reason) throw new SafetensorsError(`unknown reason ${reasons[i]} in row ${rows[i]}`);
    const repeat = REPEAT_BY_NUMBER[repeatKinds[i]!];
    if (repeat === undefined)
      throw new SafetensorsError(`unknown repeat ${repeatKinds[i]} in row ${rows[i]}`);
    const begin = Number(headerOffsets[i]);
    const header = text.toString('utf8', begin, Number(headerOffsets[i + 1]));
    const name = text.toString('utf8', begin, begin + nameBytes[i]!);
    yield {
      row: rows[i]!,
      input: inputs[i]!,
      byteOffset: Number(byteOffsets[i]),
      length: Number(lengths[i]),
      chunks: chunks[i]!,
      frames: frames[i]!,
      lost: [lost[i]!, lostToTag[i]!, lostToTga[i]!],
      geneticCode: geneticCodes[i]! || null,
      repeat,
      repeatLength: repeat && repeatLengths[i]!,
      reason: reason === 'ok' ? null : reason,
      name,
      header: name === header ? null : header,
    };
  }
}
