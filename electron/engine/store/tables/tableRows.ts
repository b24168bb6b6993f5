import {
  callChunk,
  chunkBounds,
  frameName,
  framesIn,
  isSecondLook,
  isVirusFrame,
  judgedBy,
  type ChunkScores,
} from '../../results/sequenceTally.ts';
import { float32Text } from '../../results/cellText.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import { scoredFrames, type ScannedRecord } from '../sqlite/results/derive/recordScan.ts';

export const TABLE_HEADERS = {
  originalFrames: 'Sequence_ID\tPrediction\tscore1\tscore2\n',
  originalChunks: 'Modified_ID\tIs_Virus\n',
  failedRecords: 'seq_name\tinput\trow\tlength\treason\tparts\terror\n',
} as const;

/**
 * Lines of a chunk's scored frames for prediction_results.txt, and its line for chunks.tsv. There score1 and
 * score2 are the largest of each among the frames: the two numbers that the call compares. best_frame is the
 * frame that decides, and virus_score is its score. The original tool has no frames of a second look.
 */
export function chunkLines(
  record: ScannedRecord,
  labels: ChunkLabels,
  chunk: ChunkScores,
): { frames: string; chunk: string } {
  const id = chunkId(record.name, chunk.chunk);
  const names = scoredFrames(chunk);
  const { pairs } = chunk;
  let frames = '';
  for (let i = 0; i < names.length && !isSecondLook(chunk.frames); i++) {
    const [score1, score2] = [pairs[2 * i]!, pairs[2 * i + 1]!];
    const call = isVirusFrame(score1, score2) ? 'virus' : 'others';
    frames += `${id}${frameName(names[i]!)}\t${call}\t${float32Text(score1)}\t${float32Text(score2)}\n`;
  }
  const line = chunkLine(record, labels, chunk.chunk, framesIn(chunk.frames).length);
  if (chunk.reason !== null) return { frames, chunk: line(`NA\tNA\tNA\tNA\tNA\t${chunk.reason}`, null) };
  const { isVirus, virusScore, deciding, score1, score2 } = callChunk(pairs);
  const scores = [score1, score2, virusScore].map(float32Text).join('\t');
  return {
    frames,
    chunk: line(
      `${frameName(names[deciding]!)}\t${scores}\t${booleanText(isVirus)}\tok`,
      judgedBy(labels, chunk.frames),
    ),
  };
}

/** Line of chunks.tsv for a chunk without an open frame. */
export function unopenedChunkLine(record: ScannedRecord, labels: ChunkLabels, chunk: number): string {
  return chunkLine(record, labels, chunk, 0)('NA\tNA\tNA\tNA\tNA\tno_open_frame', null);
}

export const booleanText = (value: boolean): string => (value ? 'True' : 'False');

export function chunkId(name: string, chunk: number): string {
  return `${name}_chunk_${chunk + 1}`;
}

/** What lines of chunks.tsv say of the run. */
type ChunkLabels = Pick<RunLabels, 'chunkLength' | 'secondLook' | 'isMarked' | 'model'>;

function chunkLine(
  { name, row, length }: ScannedRecord,
  { chunkLength, secondLook, isMarked, model }: ChunkLabels,
  chunk: number,
  nFrames: number,
): (result: string, judge: number | null) => string {
  const { start, end } = chunkBounds(length, chunkLength, chunk);
  const place = `${name}\t${row}\t${chunk + 1}\t${start + 1}\t${end}\t${nFrames}`;
  const mark = isMarked ? `\t${model}` : '';
  return (result, judge) => `${place}\t${result}${secondLook ? `\t${judge ?? 'NA'}` : ''}${mark}\n`;
}
