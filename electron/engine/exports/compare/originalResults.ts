import { basename } from 'node:path';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { FRAME_NAMES } from '../../../contract/results.ts';
import { callChunk, framesIn } from '../../results/sequenceTally.ts';
import { TABLE_HEADERS } from '../../store/tables/tableRows.ts';
import { tableRows } from '../../inputs/tableRows.ts';

/** A chunk in one of the original tool's two result files. */
export interface OriginalChunk {
  isVirus: boolean;
  /** Bit masks over F1 to R3: its frames, and those of them called virus. Empty in the file of chunks. */
  frames: number;
  viralFrames: number;
  /** Pairs of score1 and score2 by frame number. */
  pairs: Float32Array;
  /** Whether the file lists the chunk, or one of its frames, more than once. */
  isRepeated: boolean;
}

export interface OriginalResults {
  file: string;
  /** `frames`: prediction_results.txt. `chunks`: prediction_results_highestscore.csv. */
  kind: 'frames' | 'chunks';
  lines: number;
  /** By id, such as `contig_7_chunk_2`. */
  chunks: Map<string, OriginalChunk>;
}

const HEADS = {
  frames: TABLE_HEADERS.originalFrames.trimEnd(),
  chunks: TABLE_HEADERS.originalChunks.trimEnd(),
} as const;
const FRAME_ID = /^(.*_chunk_\d+)([FR][123])$/;
const CHUNK_ID = /^(.*)_chunk_\d+$/;
const NO_PAIRS = new Float32Array();

function kindOf(head: readonly string[] | undefined): OriginalResults['kind'] | null {
  const line = head?.join('\t');
  return line === HEADS.frames ? 'frames' : line === HEADS.chunks ? 'chunks' : null;
}

export const isOriginalHead = (head: readonly string[]): boolean => kindOf(head) !== null;

/** Whether this is one of the original tool's two result files, judged by its first line. */
export async function isOriginalResult(path: string): Promise<boolean> {
  try {
    for await (const head of tableRows(path)) return kindOf(head) !== null;
  } catch (reason) {
    if (!(reason instanceof AppFailure)) throw reason;
  }
  return false;
}

/**
 * Reads prediction_results.txt or prediction_results_highestscore.csv. Rejects with AppFailure if the file is
 * neither, or damaged.
 */
export async function readOriginalResults(path: string, signal?: AbortSignal): Promise<OriginalResults> {
  const file = basename(path);
  const chunks = new Map<string, OriginalChunk>();
  let kind: OriginalResults['kind'] | null = null;
  let lines = 0;
  for await (const row of tableRows(path, signal)) {
    if (kind === null) {
      kind = kindOf(row);
      if (kind === null) throw notOriginal(file, 'Its first line is another.');
      continue;
    }
    lines += 1;
    const isRead = kind === 'frames' ? addFrame(chunks, row) : addChunk(chunks, row);
    if (!isRead) throw notOriginal(file, `Line ${lines + 1} is none of such a file.`);
  }
  if (kind === null) throw notOriginal(file, 'It is empty.');
  if (kind === 'frames') for (const chunk of chunks.values()) chunk.isVirus = isCalledVirus(chunk);
  return { file, kind, lines, chunks };
}

function addFrame(chunks: Map<string, OriginalChunk>, row: readonly string[]): boolean {
  const [id = '', call = '', text1 = '', text2 = ''] = row;
  const [, chunkId, frameName] = FRAME_ID.exec(id) ?? [];
  const [score1, score2] = [Number(text1 || NaN), Number(text2 || NaN)];
  if (chunkId === undefined || !(call === 'virus' || call === 'others')) return false;
  if (row.length !== 4 || !Number.isFinite(score1) || !Number.isFinite(score2)) return false;
  const frame = FRAME_NAMES.findIndex((name) => name === frameName);
  let chunk = chunks.get(chunkId);
  if (!chunk) {
    const pairs = new Float32Array(2 * FRAME_NAMES.length);
    chunk = { isVirus: false, frames: 0, viralFrames: 0, pairs, isRepeated: false };
    chunks.set(chunkId, chunk);
  }
  const bit = 1 << frame;
  if (chunk.frames & bit) chunk.isRepeated = true;
  chunk.frames |= bit;
  if (call === 'virus') chunk.viralFrames |= bit;
  chunk.pairs.set([score1, score2], 2 * frame);
  return true;
}

function addChunk(chunks: Map<string, OriginalChunk>, row: readonly string[]): boolean {
  const [id = '', call = ''] = row;
  if (row.length !== 2 || !CHUNK_ID.test(id) || !(call === 'True' || call === 'False')) return false;
  const before = chunks.get(id);
  if (before) before.isRepeated = true;
  else
    chunks.set(id, {
      isVirus: call === 'True',
      frames: 0,
      viralFrames: 0,
      pairs: NO_PAIRS,
      isRepeated: false,
    });
  return true;
}

/** The rule by which the original tool derives its file of chunks from that of frames. */
function isCalledVirus({ frames, pairs }: OriginalChunk): boolean {
  const own = Float32Array.from(
    framesIn(frames).flatMap((frame) => [pairs[2 * frame]!, pairs[2 * frame + 1]!]),
  );
  return callChunk(own).isVirus;
}

export const sequenceOf = (chunkId: string): string => CHUNK_ID.exec(chunkId)?.[1] ?? '';

function notOriginal(file: string, detail: string): AppFailure {
  return appFailure('usage', message('original.unreadable', { file }), { detail });
}
