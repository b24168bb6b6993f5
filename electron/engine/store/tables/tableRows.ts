import {
  callChunk,
  chunkBounds,
  FRAMES_IN_MASK,
  frameName,
  isVirusFrame,
  type ChunkScores,
} from '../../results/sequenceTally.ts';
import { float32Text } from '../../results/cellText.ts';
import { booleanText, CHUNK_COLUMNS } from '../../results/sequenceRow.ts';
import { scoredFrames, type ScannedRecord } from '../sqlite/results/derive/recordScan.ts';

export const TABLE_HEADERS = {
  originalFrames: 'Sequence_ID\tPrediction\tscore1\tscore2\n',
  originalChunks: 'Modified_ID\tIs_Virus\n',
  chunks: `${Object.keys(CHUNK_COLUMNS).join('\t')}\n`,
  failedRecords: 'seq_name\tinput\trow\tlength\treason\tparts\terror\n',
} as const;

/**
 * Lines of a chunk's scored frames for prediction_results.txt, and its line for chunks.tsv. There score1 and
 * score2 are the largest of each among the frames: the two numbers that the call compares. best_frame is the
 * frame that decides, and virus_score is its score.
 */
export function chunkLines(
  record: ScannedRecord,
  chunkLength: number,
  chunk: ChunkScores,
): { frames: string; chunk: string } {
  const id = chunkId(record.name, chunk.chunk);
  const names = scoredFrames(chunk);
  const { pairs } = chunk;
  let frames = '';
  for (let i = 0; i < names.length; i++) {
    const [score1, score2] = [pairs[2 * i]!, pairs[2 * i + 1]!];
    const call = isVirusFrame(score1, score2) ? 'virus' : 'others';
    frames += `${id}${frameName(names[i]!)}\t${call}\t${float32Text(score1)}\t${float32Text(score2)}\n`;
  }
  const nFrames = FRAMES_IN_MASK[chunk.frames]!.length;
  const start = `${chunkLineStart(record, chunkLength, chunk.chunk)}${nFrames}`;
  if (chunk.reason !== null) return { frames, chunk: `${start}\tNA\tNA\tNA\tNA\tNA\t${chunk.reason}\n` };
  const { isVirus, virusScore, deciding, score1, score2 } = callChunk(pairs);
  const scores = [score1, score2, virusScore].map(float32Text).join('\t');
  return {
    frames,
    chunk: `${start}\t${frameName(names[deciding]!)}\t${scores}\t${booleanText(isVirus)}\tok\n`,
  };
}

/** Line of chunks.tsv for a chunk without an open frame. */
export function unopenedChunkLine(record: ScannedRecord, chunkLength: number, chunk: number): string {
  return `${chunkLineStart(record, chunkLength, chunk)}0\tNA\tNA\tNA\tNA\tNA\tno_open_frame\n`;
}

export function chunkId(name: string, chunk: number): string {
  return `${name}_chunk_${chunk + 1}`;
}

function chunkLineStart(record: ScannedRecord, chunkLength: number, chunk: number): string {
  const { start, end } = chunkBounds(record.length, chunkLength, chunk);
  return `${record.name}\t${record.row}\t${chunk + 1}\t${start + 1}\t${end}\t`;
}
