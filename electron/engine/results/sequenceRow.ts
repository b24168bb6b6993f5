import type { RunKind, SequenceResult } from '../../contract/columns.ts';
import { isTooShort } from '../../contract/evidence.ts';
import type { Cut, Trusted } from '../../contract/plan.ts';
import { pValue } from './calibration.ts';
import { evidenceOf, type PairCall, type RowRange } from './sequenceRemarks.ts';
import { frameBounds, frameName, type SequenceSummary } from './sequenceTally.ts';

/**
 * What every row contains about the run: the labels of its inputs by number, and the model as tables name it.
 */
export interface RunLabels extends Cut, RunKind {
  readonly inputs: readonly string[];
  readonly model: string;
  /** The rows of each input, as far as it is read; and those of the mates if its file is one of a read pair. */
  readonly rows: readonly (RowRange | null)[];
  readonly mates: readonly (RowRange | null)[];
  readonly undecidedUpTo: number;
  /** The scores for p-values; null if there are none. */
  readonly trusted: Trusted | null;
  /** Whether chunks.tsv names the model, as it must not be mistaken for a real one. */
  readonly isMarked: boolean;
}

/** What prepare found of a sequence. */
export interface DescribedRecord extends Pick<
  SequenceResult,
  | ('row' | 'input' | 'length' | 'nChunks' | 'nChunksLost' | 'nChunksLostToTag' | 'nChunksLostToTga')
  | ('geneticCodeHint' | 'terminalRepeat' | 'terminalRepeatLength')
> {
  name: string;
  /** Null if the whole header is the name. */
  header: string | null;
}

interface Derived {
  record: DescribedRecord;
  summary: SequenceSummary;
  /** The call of a read and its mate, which is unknown until both have results. */
  pair?: PairCall | null;
  settled?: boolean;
}

/** The value of every column but the model, which is the same in all rows. */
export function sequenceRow(
  { record, summary, pair = null, settled = true }: Derived,
  { trusted, undecidedUpTo, ...cut }: Cut & Pick<RunLabels, 'trusted' | 'undecidedUpTo'>,
): SequenceResult {
  const { row, input, name, length } = record;
  const { nChunksScored, nChunksViral, bestChunk, bestFrame, virusScore } = summary;
  const frame = bestFrame === null ? null : frameName(bestFrame);
  const best = bestChunk === null || frame === null ? null : frameBounds(length, cut, bestChunk, frame);
  return {
    seqName: name,
    header: record.header ?? name,
    input,
    row,
    length,
    tooShort: isTooShort(length),
    virusScore,
    prediction: summary.prediction,
    margin: summary.margin,
    settled,
    evidence: evidenceOf({ ...summary, undecidedUpTo, length, chunkLength: cut.chunkLength }),
    reason: summary.reason,
    nChunks: record.nChunks,
    nChunksScored,
    nChunksViral,
    viralFraction: nChunksScored === 0 ? null : Math.fround(nChunksViral / nChunksScored),
    nBasesScored: summary.nBasesScored,
    nBasesViral: summary.nBasesViral,
    bestScore: summary.bestScore,
    secondScore: summary.secondScore,
    bestChunkStart: best && best.start + 1,
    bestChunkEnd: best && best.end,
    bestFrame: frame,
    nFramesScored: summary.nFramesScored,
    terminalRepeat: record.terminalRepeat,
    terminalRepeatLength: record.terminalRepeatLength,
    nChunksLost: record.nChunksLost,
    nChunksLostToTag: record.nChunksLostToTag,
    nChunksLostToTga: record.nChunksLostToTga,
    geneticCodeHint: record.geneticCodeHint,
    pairScore: pair && pair.score,
    pairPrediction: pair && pair.prediction,
    pValue: pValue(trusted, length, virusScore),
    judgedBy: cut.secondLook ? summary.judgedBy : null,
    along: summary.along,
  };
}

const CHUNK_COLUMNS = {
  seq_name: 'VARCHAR',
  row: 'INTEGER',
  chunk: 'INTEGER',
  start: 'BIGINT',
  end: 'BIGINT',
  n_frames: 'INTEGER',
  best_frame: 'VARCHAR',
  score1: 'FLOAT',
  score2: 'FLOAT',
  virus_score: 'FLOAT',
  is_virus: 'BOOLEAN',
  reason: 'VARCHAR',
} as const;

/** The columns of a run's chunks.tsv with their types in DuckDB, in order; a model that must not be mistaken for a real one comes last. */
export function chunkColumns({ looksTwice, isMarked }: Pick<RunLabels, 'looksTwice' | 'isMarked'>) {
  return {
    ...CHUNK_COLUMNS,
    ...(looksTwice && { judged_by: 'INTEGER' }),
    ...(isMarked && { model: 'VARCHAR' }),
  };
}
