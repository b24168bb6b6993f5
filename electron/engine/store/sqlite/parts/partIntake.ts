import type Database from 'better-sqlite3';
import type { PartDone } from '../../../../contract/protocol/index.ts';
import type { Reason } from '../../../../contract/results.ts';
import { callChunk, isFrameMask } from '../../../results/sequenceTally.ts';
import { endAttemptsOf, isAttemptOpen, findPart, scoresPath, type PartRow } from './partRows.ts';
import { isFileError, readSafetensors, SafetensorsError } from '../files/safetensorsFile.ts';
import { sealMethods } from './digests.ts';
import type { Milliseconds, PartIntake, StoredPart } from '../../types.ts';

/** A part's frames as arrays of equal length, in the order row, chunk, frame. */
interface PartFrames {
  row: Uint32Array;
  chunk: Uint32Array;
  /** Numbers in ALL_FRAME_NAMES. */
  frame: Uint8Array;
  residueOffsets: Uint32Array;
}

/** Frames of one chunk: [begin, end) within a PartFrames, and which frames they are as a bit mask. */
export interface ChunkSpan {
  row: number;
  chunk: number;
  begin: number;
  end: number;
  frames: number;
}

type PartRead = { ok: true; frames: PartFrames } | { ok: false; message: string };

/** Reads the frames of a part from its file in work/parts, after checking the file's hash. */
export function readPartFrames(folder: string, part: StoredPart): PartRead {
  try {
    const file = readSafetensors(folder, part.path, part.sha256);
    const { frameBegin, frameEnd } = part;
    const row = file.u32('row').subarray(frameBegin, frameEnd);
    if (row.length !== part.frames)
      throw new SafetensorsError(`it has no frames ${frameBegin} to ${frameEnd}`);
    const frames: PartFrames = {
      row,
      chunk: file.u32('chunk').subarray(frameBegin, frameEnd),
      frame: file.u8('frame').subarray(frameBegin, frameEnd),
      residueOffsets: file.u32('residue_offsets').subarray(frameBegin, frameEnd + 1),
    };
    if (row[0] !== part.firstRow || row[row.length - 1] !== part.lastRow)
      throw new SafetensorsError(`its rows are not ${part.firstRow} to ${part.lastRow}`);
    return { ok: true, frames };
  } catch (error) {
    if (error instanceof SafetensorsError || isFileError(error))
      return { ok: false, message: `${part.path}: ${error.message}` };
    throw error;
  }
}

/** Frames grouped by chunk. Throws SafetensorsError if they don't ascend by row, chunk and frame. */
export function chunkSpans({ row, chunk, frame }: PartFrames): ChunkSpan[] {
  const spans: ChunkSpan[] = [];
  let span: ChunkSpan | null = null;
  for (let i = 0; i < row.length; i++) {
    const [r, c, bit] = [row[i]!, chunk[i]!, 1 << frame[i]!];
    if (span && span.row === r && span.chunk === c) {
      if (bit <= span.frames) throw new SafetensorsError(`frames out of order at ${i}`);
      span.frames |= bit;
      span.end = i + 1;
    } else {
      if (span && (r < span.row || (r === span.row && c < span.chunk)))
        throw new SafetensorsError(`frames out of order at ${i}`);
      span = { row: r, chunk: c, begin: i, end: i + 1, frames: bit };
      spans.push(span);
    }
    if (!isFrameMask(span.frames)) throw new SafetensorsError(`unknown frame at ${i}`);
  }
  return spans;
}

/** The value of `state` for such a frame in a scores file. */
const FRAME_RECOMPUTED_FP32 = 1;
const FRAME_FAILED = 2;

interface Scores {
  /** Alternating score1 and score2 of each frame. */
  pairs: Float32Array;
  state: Uint8Array;
}

export interface ChunkRow {
  span: ChunkSpan;
  /** Bit masks over the frames. */
  unscored: number;
  fp32: number;
  scores: Buffer | null;
  isVirus: boolean | null;
  reason: Reason | null;
}

/**
 * Stores chunk rows. A row of the same chunk from another part, from before prepare cut the parts again, is
 * replaced.
 */
export function insertChunks(db: Database.Database, part: PartRow, rows: Iterable<ChunkRow>): number {
  const insert = db.prepare(`
    INSERT OR REPLACE INTO chunk (row, chunk, part, frames, unscored, fp32, is_virus, scores, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  let count = 0;
  for (const { span, unscored, fp32, isVirus, scores, reason } of rows) {
    const call = isVirus === null ? null : Number(isVirus);
    insert.run(span.row, span.chunk, part.id, span.frames, unscored, fp32, call, scores, reason);
    count++;
  }
  return count;
}

export function partIntakeMethods(db: Database.Database, folder: string) {
  const release = db.prepare(`UPDATE part SET state = 'pending', device = NULL WHERE key = ?`);
  const markDone = db.prepare(
    `UPDATE part SET state = 'done', seconds = ?, scores_sha256 = ?, embeddings_sha256 = ?, recomputed_fp32 = ?,
       frames_failed = ?, frames_outside_norm_band = ?, esm2_norm_low = ?, esm2_norm_high = ?,
       dnabert_s_norm_low = ?, dnabert_s_norm_high = ?, batch_halvings = ?, repeated_proteins = ?,
       repeated_nucleotides = ?, failure_code = NULL, failure_message = NULL
     WHERE key = ?`,
  );

  const { sealPart } = sealMethods(db);

  function giveBack(part: PartRow, endedAt: Milliseconds, message: string): void {
    endAttemptsOf(db, part.key, { outcome: 'damaged', endedAt, message });
    release.run(part.key);
  }

  function completePart(done: PartDone, attempt: number, endedAt: Milliseconds): PartIntake {
    const part = findPart(db, done.part);
    if (part?.state === 'done') return { outcome: 'already_done' };
    if (part?.state !== 'assigned' || !isAttemptOpen(db, attempt, done.part))
      return { outcome: 'superseded' };

    const read = readPartFrames(folder, part);
    if (!read.ok) {
      giveBack(part, endedAt, read.message);
      return { outcome: 'part_damaged', message: read.message };
    }
    let scores: Scores;
    try {
      scores = readScores(folder, done, part.frames);
    } catch (error) {
      if (!(error instanceof SafetensorsError || isFileError(error))) throw error;
      const message = `${scoresPath(done.part)}: ${error.message}`;
      giveBack(part, endedAt, message);
      return { outcome: 'scores_damaged', message };
    }
    const chunks = insertChunks(db, part, chunkRows(chunkSpans(read.frames), scores));
    markDone.run(
      done.seconds,
      done.scores_sha256,
      done.embeddings_sha256,
      done.frames_recomputed_fp32,
      done.frames_failed,
      done.frames_outside_norm_band,
      ...(done.norms ? [...done.norms.esm2, ...done.norms.dnabert_s] : [null, null, null, null]),
      done.batch_halvings,
      done.repeated_proteins,
      done.repeated_nucleotides,
      part.key,
    );
    sealPart(part.key);
    endAttemptsOf(db, part.key, { outcome: 'done', endedAt });
    return { outcome: 'taken', chunks };
  }

  return { completePart: db.transaction(completePart) };
}

/**
 * Scores of a part, after checking the file's hash and counts, and that every frame has a score or none, as
 * its state says.
 */
function readScores(folder: string, done: PartDone, frames: number): Scores {
  const file = readSafetensors(folder, scoresPath(done.part), done.scores_sha256);
  const score1 = file.f32('score1', frames);
  const score2 = file.f32('score2', frames);
  const state = file.u8('state', frames);
  const pairs = new Float32Array(2 * frames);
  for (let i = 0; i < frames; i++) {
    const isScored = isProbability(score1[i]!) && isProbability(score2[i]!);
    if (state[i]! > FRAME_FAILED || isScored === (state[i] === FRAME_FAILED))
      throw new SafetensorsError(`the score of frame ${i} does not fit its state`);
    pairs[2 * i] = isScored ? score1[i]! : NaN;
    pairs[2 * i + 1] = isScored ? score2[i]! : NaN;
  }
  return { pairs, state };
}

function isProbability(score: number): boolean {
  return score >= 0 && score <= 1;
}

function* chunkRows(spans: ChunkSpan[], { pairs, state }: Scores): Generator<ChunkRow> {
  for (const span of spans) {
    let unscored = 0;
    let fp32 = 0;
    let rest = span.frames;
    for (let i = span.begin; i < span.end; i++) {
      const bit = rest & -rest;
      rest ^= bit;
      if (state[i] === FRAME_FAILED) unscored |= bit;
      else if (state[i] === FRAME_RECOMPUTED_FP32) fp32 |= bit;
    }
    const all = pairs.subarray(2 * span.begin, 2 * span.end);
    const scored = unscored === 0 ? all : all.filter((score) => !Number.isNaN(score));
    yield {
      span,
      unscored,
      fp32,
      scores: scored.length > 0 ? Buffer.from(scored.buffer, scored.byteOffset, scored.byteLength) : null,
      // Without all frames a chunk's largest score is unknown, so there is no call.
      isVirus: unscored === 0 ? callChunk(scored).isVirus : null,
      reason: unscored === 0 ? null : 'non_finite',
    };
  }
}
