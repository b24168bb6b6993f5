import type { ChunkResult, Prediction, Reason, SequenceResult } from '../../contract/results.ts';
import type { SequenceSort } from '../../contract/rpc/results.ts';
import type { TableExport, WrittenExport } from './exportTable.ts';
import type { SequenceSelection } from './sequenceFilter.ts';
import type { FoundSequences, PredictionCounts } from './sequenceQueries.ts';

export interface InputResultSummary {
  input: number;
  sequences: number;
  byPrediction: Record<Prediction, number>;
}

export interface ChunkPage {
  chunks: ChunkResult[];
  total: number;
}

/** Reads the derived results. Empty until `writeTables` has run once. */
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
  /** Scored sequences per bin of virus_score of width 1/bins. */
  scoreBins(selection: SequenceSelection, bins: number): Promise<number[]>;
  /** Writes the numbers of the selected rows, ascending, as little-endian U32; answers with how many. */
  writeSelectedRows(selection: SequenceSelection, path: string): Promise<number>;
  /** Writes the selected sequences with the columns of sequences.tsv. */
  exportTable(request: TableExport): Promise<WrittenExport>;
}

export interface ResultCounts {
  records: number;
  chunks: number;
  chunksScored: number;
  chunksViral: number;
  framesScored: number;
  byPrediction: Record<Prediction, number>;
  byReason: Record<Reason, number>;
  failedShards: number;
}

export interface TablesWritten {
  counts: ResultCounts;
  /** SHA-256 by file name, in the order they were written. */
  files: Record<string, string>;
  seconds: number;
}

/** One request to stream the inputs once more and write the whole records of `rowsPath` to `outPath`. */
export interface ExtractionRequest {
  inputs: { path: string; sha256: string }[];
  /** Row numbers, ascending, as little-endian U32. */
  rowsPath: string;
  outPath: string;
}
/** How results/ gets sequences extracted without starting processes itself. Resolves when `outPath` is complete; rejects
 * with AppFailure (`input_changed`, `input_not_found`, ...). */
export type ExtractRecords = (request: ExtractionRequest) => Promise<void>;

/** What run.json says beside what run.db knows. */
export interface RunJsonFacts {
  appVersion: string;
  backendVersion: string | null;
  pythonVersion: string | null;
  torchVersion: string | null;
  platform: string;
  /** Largest difference of a score that bounded parts may have in this precision, as measured. */
  tolerance: number;
}
