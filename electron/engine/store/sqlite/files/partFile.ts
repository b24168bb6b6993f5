import { readSafetensors, SafetensorsError } from './safetensorsFile.ts';
import type { StoredPart } from '../../types.ts';

/** A part's frames as arrays of equal length, in the order row, chunk, frame. */
export interface PartFrames {
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

export type PartRead = { ok: true; frames: PartFrames } | { ok: false; message: string };

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
