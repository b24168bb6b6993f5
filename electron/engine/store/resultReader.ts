import type { QueryAnswer } from '../../contract/rpc/query.ts';
import type { SequenceResult } from '../../contract/results.ts';
import type { SequenceSort } from '../../contract/rpc/results.ts';
import type { QueryQuestion } from './duckdb/resultQuery.ts';
import type { SequenceSelection } from './duckdb/selection.ts';
import type { FoundSequences, PredictionCounts } from './duckdb/sequenceQueries.ts';
import type {
  ChunkPage,
  FrameOfPart,
  InputResultSummary,
  LengthScores,
  LengthShare,
  ScoredChunk,
  ScoredFrames,
} from '../results/types.ts';

/** Reads the derived results: of a run that is not done, those of the records whose frames are all computed. */
export interface ResultReader {
  sequence(row: number): Promise<SequenceResult | null>;
  /** Chunks of one record, those without an open frame included; `chunk` counts from 1, as in chunk ids. */
  chunksOf(row: number, offset: number, limit: number): Promise<ChunkPage>;
  inputSummaries(): Promise<InputResultSummary[]>;
  findSequences(
    selection: SequenceSelection,
    sort: SequenceSort,
    offset: number,
    limit: number,
  ): Promise<FoundSequences>;
  countPredictions(selection: SequenceSelection): Promise<PredictionCounts>;
  /** How many are called virus, in a run whose parts are all settled. */
  viralSequences(): Promise<number>;
  /** Scored sequences per bin of virus_score of width 1/bins. */
  scoreBins(selection: SequenceSelection, bins: number): Promise<number[]>;
  /** Writes the numbers of the selected rows, ascending, as little-endian U32; answers with how many. */
  writeSelectedRows(selection: SequenceSelection, path: string): Promise<number>;
  /** The same for those called virus, in a run whose parts are all settled. */
  writeViralRows(path: string): Promise<number>;
  /** The numbers of the selected rows in the order asked for. */
  selectedRows(selection: SequenceSelection, sort: SequenceSort): Promise<Uint32Array>;
  /** In the order of the given rows. Rejects where one is gone: the results were derived anew meanwhile. */
  sequencesOf(rows: Uint32Array): Promise<SequenceResult[]>;
  /** By name the numbers of the sequences that have it, of those names that some have. */
  rowsNamed(names: readonly string[]): Promise<Map<string, number[]>>;
  /** The scored chunks of each of the given rows, in order along it. */
  scoredChunksOf(rows: Uint32Array): Promise<ScoredChunk[][]>;
  /** The scores of all frames of each scored chunk of each of the given rows, in order along it. */
  scoredFramesOf(rows: Uint32Array): Promise<ScoredFrames[][]>;
  /** Answers a query of the user's in SQL, within the bounds that the question names. */
  queryResults(question: QueryQuestion): Promise<QueryAnswer>;
  /** The reading frames of a part that is done, in the order of its files. */
  framesOf(part: string): Promise<FrameOfPart[]>;
  /** Calls by length; `edges` ascend, the first is 0, and the last bin is open. */
  lengthShares(selection: SequenceSelection, edges: readonly number[]): Promise<LengthShare[]>;
  /** Calls by length and score; `edges` as for `lengthShares`. */
  lengthScores(selection: SequenceSelection, edges: readonly number[], bins: number): Promise<LengthScores>;
}
