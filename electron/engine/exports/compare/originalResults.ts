import { basename } from 'node:path';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { FRAME_NAMES } from '../../../contract/results.ts';
import { TABLE_HEADERS } from '../../store/tables/tableRows.ts';
import { tableRows } from '../../inputs/tableRows.ts';

/** A chunk in one of the original tool's two result files. */
export interface OriginalChunk {
  isVirus: boolean;
  /** The highest of its frames; null in the file of chunks, which has none. */
  score1: number | null;
  score2: number | null;
  /** A bit for each of its frames; 1 in the file of chunks. */
  frames: number;
  /** Whether the file lists the chunk, or one of its frames, more than once. */
  isRepeated: boolean;
}

/** `frames`: prediction_results.txt. `chunks`: prediction_results_highestscore.csv. */
const HEADS = {
  frames: TABLE_HEADERS.originalFrames.trimEnd(),
  chunks: TABLE_HEADERS.originalChunks.trimEnd(),
} as const;
type Kind = keyof typeof HEADS;

const FRAME_ID = /^(.*_chunk_\d+)([FR][123])$/;
const CHUNK_ID = /^(.*)_chunk_\d+$/;

function kindOf(head: readonly string[]): Kind | null {
  const line = head.join('\t');
  return line === HEADS.frames ? 'frames' : line === HEADS.chunks ? 'chunks' : null;
}

export const isOriginalHead = (head: readonly string[]): boolean => kindOf(head) !== null;

/** Whether this is one of the original tool's two result files, judged by its first line. */
export async function isOriginalResult(path: string): Promise<boolean> {
  try {
    for await (const head of tableRows(path)) return isOriginalHead(head);
  } catch (reason) {
    if (!(reason instanceof AppFailure)) throw reason;
  }
  return false;
}

/**
 * Reads prediction_results.txt or prediction_results_highestscore.csv: its chunks by their ids, such as
 * `contig_7_chunk_2`. Rejects with AppFailure if the file is neither, or damaged.
 */
export async function readOriginalResults(
  path: string,
  signal?: AbortSignal,
): Promise<Map<string, OriginalChunk>> {
  const file = basename(path);
  const chunks = new Map<string, OriginalChunk>();
  let kind: Kind | null = null;
  let lines = 1;
  for await (const row of tableRows(path, signal)) {
    if (kind === null) {
      kind = kindOf(row);
      if (kind === null) throw notOriginal(file, 'Its first line is another.');
      continue;
    }
    lines += 1;
    if (!(kind === 'frames' ? addFrame(chunks, row) : addChunk(chunks, row)))
      throw notOriginal(file, `Line ${lines} is none of such a file.`);
  }
  if (kind === null) throw notOriginal(file, 'It is empty.');
  return chunks;
}

/** Also calls the chunk, by the rule by which the original tool derives its file of chunks from that of frames. */
function addFrame(chunks: Map<string, OriginalChunk>, row: readonly string[]): boolean {
  const [written = '', call = '', text1 = '', text2 = ''] = row;
  const [, id, frameName] = FRAME_ID.exec(written) ?? [];
  const [one, two] = [Number(text1 || NaN), Number(text2 || NaN)].map(Math.fround) as [number, number];
  if (id === undefined || !(call === 'virus' || call === 'others')) return false;
  if (row.length !== 4 || !Number.isFinite(one) || !Number.isFinite(two)) return false;
  const bit = 1 << FRAME_NAMES.findIndex((name) => name === frameName);
  const before = chunks.get(id);
  const [score1, score2] = [Math.max(before?.score1 ?? one, one), Math.max(before?.score2 ?? two, two)];
  const frames = (before?.frames ?? 0) | bit;
  const isRepeated = before !== undefined && (before.isRepeated || (before.frames & bit) !== 0);
  chunks.set(id, { isVirus: score2 >= score1, score1, score2, frames, isRepeated });
  return true;
}

function addChunk(chunks: Map<string, OriginalChunk>, row: readonly string[]): boolean {
  const [id = '', call = ''] = row;
  if (row.length !== 2 || !CHUNK_ID.test(id) || !(call === 'True' || call === 'False')) return false;
  const isRepeated = chunks.has(id);
  chunks.set(id, { isVirus: call === 'True', score1: null, score2: null, frames: 1, isRepeated });
  return true;
}

export const sequenceOf = (chunkId: string): string => CHUNK_ID.exec(chunkId)?.[1] ?? '';

function notOriginal(file: string, detail: string): AppFailure {
  return appFailure('usage', message('original.unreadable', { file }), { detail });
}
