import {
  chunkBounds,
  callChunk,
  FRAMES_IN_MASK,
  frameName,
  isVirusFrame,
  type ChunkScores,
  type SequenceSummary,
} from '../../../../results/sequenceTally.ts';
import { isTooShort } from '../../../../../contract/evidence.ts';
import type { SequenceResult } from '../../../../../contract/results.ts';
import { geneticCodeHint } from '../../../../results/sequenceRemarks.ts';
import { float32Text } from '../../../../results/cellText.ts';
import { scoredFrames, type DescribedRecord, type ScannedRecord } from '../derive/recordScan.ts';

export const TABLE_HEADERS = {
  originalFrames: 'Sequence_ID\tPrediction\tscore1\tscore2\n',
  originalChunks: 'Modified_ID\tIs_Virus\n',
  sequences:
    'seq_name\tinput\trow\tlength\ttoo_short\tvirus_score\tprediction\treason\tn_chunks\tn_chunks_scored\tn_chunks_viral\t' +
    'viral_fraction\tn_bases_scored\tn_bases_viral\tbest_chunk_start\tbest_chunk_end\tbest_frame\tn_frames_scored\t' +
    'terminal_repeat\tterminal_repeat_length\tn_chunks_lost\tn_chunks_lost_to_tag\tn_chunks_lost_to_tga\tgenetic_code_hint\tmodel\n',
  chunks:
    'seq_name\trow\tchunk\tstart\tend\tn_frames\tbest_frame\tscore1\tscore2\tvirus_score\tis_virus\treason\n',
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

export function sequenceLine(
  record: DescribedRecord,
  summary: SequenceSummary,
  chunkLength: number,
  labels: { input: string; model: string },
): string {
  const { nChunksScored, nChunksViral, bestChunk, bestFrame, virusScore } = summary;
  const score = virusScore === null ? 'NA' : float32Text(virusScore);
  const fraction = nChunksScored === 0 ? 'NA' : float32Text(Math.fround(nChunksViral / nChunksScored));
  const best = bestChunk === null ? null : chunkBounds(record.length, chunkLength, bestChunk);
  const frame = bestFrame === null ? 'NA' : frameName(bestFrame);
  return (
    `${record.name}\t${labels.input}\t${record.row}\t${record.length}\t${booleanText(isTooShort(record.length))}\t${score}\t` +
    `${summary.prediction}\t${summary.reason}\t${record.nChunks}\t${nChunksScored}\t${nChunksViral}\t${fraction}\t` +
    `${summary.nBasesScored}\t${summary.nBasesViral}\t${best ? best.start + 1 : 'NA'}\t${best ? best.end : 'NA'}\t${frame}\t${summary.nFramesScored}\t` +
    `${record.terminalRepeat ?? 'NA'}\t${record.terminalRepeatLength ?? 'NA'}\t${record.nLost}\t${record.nLostToTag}\t${record.nLostToTga}\t` +
    `${geneticCodeHint(record) ?? 'NA'}\t${labels.model}\n`
  );
}

/** The additional columns of sequences.tsv in runs with read pairs or a calibrated model. */
export function moreCells(
  { isPaired, trusted }: { isPaired: boolean; trusted: object | null },
  pair: SequenceResult['pair'],
  p: number | null,
): string {
  const pairCells = pair === null ? '\tNA\tNA' : `\t${float32Text(pair.score)}\t${pair.prediction}`;
  return `${isPaired ? pairCells : ''}${trusted ? `\t${p === null ? 'NA' : float32Text(p)}` : ''}`;
}

export function chunkId(name: string, chunk: number): string {
  return `${name}_chunk_${chunk + 1}`;
}

export function booleanText(value: boolean): 'True' | 'False' {
  return value ? 'True' : 'False';
}

function chunkLineStart(record: ScannedRecord, chunkLength: number, chunk: number): string {
  const { start, end } = chunkBounds(record.length, chunkLength, chunk);
  return `${record.name}\t${record.row}\t${chunk + 1}\t${start + 1}\t${end}\t`;
}
