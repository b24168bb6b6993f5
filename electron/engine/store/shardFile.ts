import { join } from 'node:path';
import { readSafetensors, SafetensorsError } from './safetensorsFile.ts';
import type { StoredShard } from './types.ts';

/** A shard's frames as arrays of equal length, in the order row, chunk, frame. */
export interface ShardFrames {
  row: Uint32Array;
  chunk: Uint32Array;
  /** 0 to 5 = F1, F2, F3, R1, R2, R3. */
  frame: Uint8Array;
  residueOffsets: Uint32Array;
}

/** Frames of one chunk: [begin, end) within a ShardFrames, and which frames they are as a bit mask. */
export interface ChunkSpan {
  row: number;
  chunk: number;
  begin: number;
  end: number;
  frames: number;
}

export type ShardRead = { ok: true; frames: ShardFrames } | { ok: false; message: string };

/** Reads the frames of a shard from its file in work/shards, after checking the file's hash. */
export function readShardFrames(folder: string, shard: StoredShard): ShardRead {
  try {
    const file = readSafetensors(join(folder, shard.path), shard.sha256);
    const { frameBegin, frameEnd } = shard;
    const row = file.u32('row').subarray(frameBegin, frameEnd);
    if (row.length !== shard.frames)
      throw new SafetensorsError(`it has no frames ${frameBegin} to ${frameEnd}`);
    const frames: ShardFrames = {
      row,
      chunk: file.u32('chunk').subarray(frameBegin, frameEnd),
      frame: file.u8('frame').subarray(frameBegin, frameEnd),
      residueOffsets: file.u32('residue_offsets').subarray(frameBegin, frameEnd + 1),
    };
    if (row[0] !== shard.firstRow || row[row.length - 1] !== shard.lastRow)
      throw new SafetensorsError(`its rows are not ${shard.firstRow} to ${shard.lastRow}`);
    return { ok: true, frames };
  } catch (error) {
    if (error instanceof SafetensorsError || isFileError(error))
      return { ok: false, message: `${shard.path}: ${error.message}` };
    throw error;
  }
}

/** Frames grouped by chunk. Raises SafetensorsError where they don't ascend by row, chunk and frame. */
export function chunkSpans({ row, chunk, frame }: ShardFrames): ChunkSpan[] {
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
