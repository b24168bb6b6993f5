import { readSafetensors, SafetensorsError } from './safetensorsFile.ts';
import type { StoredPart } from '../../types.ts';
import type { RecordsFile } from '../../../../contract/protocol/index.ts';
import type { Reason, SequenceResult } from '../../../../contract/results.ts';

/** A part's frames as arrays of equal length, in the order row, chunk, frame. */
interface PartFrames {
  row: Uint32Array;
  chunk: Uint32Array;
  /** 0 to 5 = F1, F2, F3, R1, R2, R3. */
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
    if (bit > 32) throw new SafetensorsError(`unknown frame at ${i}`);
  }
  return spans;
}

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

/** The meaning of the numbers in the `reason` array. */
const REASON_BY_NUMBER: readonly Reason[] = ['ok', 'empty', 'invalid_characters', 'malformed_record'];

/** The meaning of the numbers in the `repeat_kind` array. */
const REPEAT_BY_NUMBER = [null, 'DTR', 'ITR'] as const;

interface RecordRow {
  row: number;
  input: number;
  byteOffset: number;
  length: number;
  chunks: number;
  frames: number;
  lost: SequenceResult['lostChunks'];
  terminalRepeat: SequenceResult['terminalRepeat'];
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
  const repeatKinds = file.u8('repeat_kind', n);
  const repeatLengths = file.u32('repeat_length', n);
  const reasons = file.u8('reason', n);
  const headerBytes = file.u8('header');
  const headerOffsets = file.u64('header_offsets', n + 1);
  const text = Buffer.from(headerBytes.buffer, headerBytes.byteOffset, headerBytes.byteLength);
  for (let i = 0; i < n; i++) {
    const reason = REASON_BY_NUMBER[reasons[i]!];
    if (rows[i] !== event.first_row + i)
      throw new SafetensorsError(`its rows don't count up from ${event.first_row}`);
    if (!reason) throw new SafetensorsError(`unknown reason ${reasons[i]} in row ${rows[i]}`);
    const repeat = REPEAT_BY_NUMBER[repeatKinds[i]!];
    if (repeat === undefined)
      throw new SafetensorsError(`unknown repeat ${repeatKinds[i]} in row ${rows[i]}`);
    const header = text.toString('utf8', Number(headerOffsets[i]), Number(headerOffsets[i + 1]));
    const name = firstWord(header);
    yield {
      row: rows[i]!,
      input: inputs[i]!,
      byteOffset: Number(byteOffsets[i]),
      length: Number(lengths[i]),
      chunks: chunks[i]!,
      frames: frames[i]!,
      lost: { all: lost[i]!, toTag: lostToTag[i]!, toTga: lostToTga[i]! },
      terminalRepeat: repeat && { kind: repeat, length: repeatLengths[i]! },
      reason: reason === 'ok' ? null : reason,
      name,
      header: name === header ? null : header,
    };
  }
}

// Python's str.split() knows other white space than \s: the information separators and NEL, but not the byte order mark.
// eslint-disable-next-line no-control-regex
const FIRST_WORD = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/**
 * The name of a record: the first word of its header line as in the original tool, or '' if there is none.
 */
export function firstWord(header: string): string {
  return FIRST_WORD.exec(header)?.[0] ?? '';
}
