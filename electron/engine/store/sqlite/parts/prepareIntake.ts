import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../../contract/errors.ts';
import type {
  InputDone,
  InputProblem,
  PreparedPart,
  PrepareDone,
  RecordsFile,
} from '../../../../contract/protocol/index.ts';
import { endAttemptsOf } from './attempts.ts';
import { readRecords, isFileError } from '../files/prepareFiles.ts';
import { SafetensorsError } from '../files/safetensorsFile.ts';
import { repairDamage, wrongCounts } from './damage.ts';
import { sealMethods } from './digests.ts';
import { deleteChunksOf, findPart, partPath, type PartRow } from './partRows.ts';
import type { InputFailure, Registered } from '../../types.ts';

/** Stores prepare's reports. A second prepare over the same inputs changes nothing. */
export function prepareIntakeMethods(db: Database.Database, folder: string) {
  const knownFile = db.prepare<[string], string>('SELECT sha256 FROM records_file WHERE path = ?').pluck();
  const saveFile = db.prepare(
    'INSERT OR REPLACE INTO records_file (path, sha256, first_row, count) VALUES (?, ?, ?, ?)',
  );
  const saveRecord = db.prepare(`
    INSERT OR REPLACE INTO record (row, input, byte_offset, length, n_chunks, n_frames, n_lost, n_lost_to_tag, n_lost_to_tga,
      terminal_repeat, terminal_repeat_length, reason, name, header)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const saveProblem = db.prepare(
    'INSERT OR REPLACE INTO input_problem (input, code, severity, message, count, examples) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const inputHash = db.prepare<[number], string>('SELECT sha256 FROM input WHERE input = ?').pluck();
  const saveInput = db.prepare('UPDATE input SET records = ?, bases = ?, first_row = ? WHERE input = ?');
  const saveInputFailure = db.prepare(
    'UPDATE input SET failure = ?, records = NULL, bases = NULL, first_row = NULL WHERE input = ?',
  );
  const savePrepared = db.prepare('UPDATE run SET prepared = ?');

  const { sealRecords } = sealMethods(db);

  function ingestRecords(event: RecordsFile): Registered {
    const known = knownFile.get(event.path);
    if (known === event.sha256) return 'known';
    try {
      for (const record of readRecords(folder, event)) {
        const { row, input, byteOffset, length, chunks, frames, reason, name, header } = record;
        const { lost, terminalRepeat } = record;
        saveRecord.run(
          ...[row, input, byteOffset, length, chunks, frames, lost.all, lost.toTag, lost.toTga],
          ...[terminalRepeat?.kind, terminalRepeat?.length, reason, name, header],
        );
      }
    } catch (error) {
      if (error instanceof SafetensorsError || isFileError(error))
        throw new AppFailure(appError('prepare_failed', `${event.path} is damaged: ${error.message}`));
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
      throw new AppFailure(appError('input_changed', cause, { detail: `${planned} -> ${event.sha256}` }));
    }
    saveInput.run(event.records, event.bases, event.first_row, event.input);
  }

  function finishPrepare(done: PrepareDone): void {
    deleteBeyond(db, done);
    const wrong = wrongCounts(db, done);
    if (wrong.length > 0) {
      const cause = 'What was read from the inputs does not add up to what was reported.';
      throw new AppFailure(appError('prepare_failed', cause, { detail: wrong.join('; ') }));
    }
    savePrepared.run(JSON.stringify(done));
  }

  return {
    ingestRecords: db.transaction(ingestRecords),
    registerPart: db.transaction((event: PreparedPart): Registered => registerPart(db, event)),
    addInputProblem: ({ input, code, severity, message, count, examples }: InputProblem): void => {
      saveProblem.run(input, code, severity, message, count, JSON.stringify(examples));
    },
    finishInput,
    failInput: (input: number, failure: InputFailure): void =>
      void saveInputFailure.run(JSON.stringify(failure), input),
    finishPrepare: db.transaction(finishPrepare),
    invalidatePrepare: (): void => void savePrepared.run(null),
    repairDamage: db.transaction(() => repairDamage(db)),
  };
}

function registerPart(db: Database.Database, event: PreparedPart): Registered {
  if (event.path !== partPath(event.key)) {
    const cause = `Part ${event.key} was written to ${event.path}, where it does not belong.`;
    throw new AppFailure(appError('prepare_failed', cause));
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
