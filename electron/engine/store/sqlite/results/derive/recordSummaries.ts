import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../../../../contract/errors.ts';
import { readPlan } from '../../runRows.ts';
import {
  ChunkCursor,
  scanRecords,
  type CountedRecord,
  type DescribedRecord,
  type ScannedChunk,
} from './recordScan.ts';
import { SequenceTally, type SequenceSummary } from '../../../../results/sequenceTally.ts';

export interface SummarisedRecord {
  record: DescribedRecord;
  summary: SequenceSummary;
}

interface SummaryOptions {
  visit?: (record: DescribedRecord, chunk: ScannedChunk) => void;
  /** Only the rows between these two, both included. */
  from?: number;
  to?: number;
}

/**
 * Iterates over the chunk rows and the records of the run together, in order: yields each record with the
 * summary of its chunks, after `visit` has seen every one of them. Throws if the chunks of a record differ
 * from those that prepare found.
 */
export function* recordSummaries(
  db: Database.Database,
  { visit, from, to }: SummaryOptions = {},
): Generator<SummarisedRecord, undefined> {
  const { chunkLength } = readPlan(db);
  const cursor = new ChunkCursor(db, from, to);
  for (const record of scanRecords(db, from, to)) {
    const tally = new SequenceTally(record.length, chunkLength);
    for (let chunk = cursor.current; chunk?.row === record.row; chunk = cursor.current) {
      if (chunk.chunk >= record.nChunks) throw chunkAmiss(record, chunk);
      visit?.(record, chunk);
      tally.add(chunk);
      cursor.advance();
    }
    const summary = tally.summary(record.fault);
    if (summary.nFrames !== record.nFrames) throw framesAmiss(record, summary);
    yield { record, summary };
  }
  if (cursor.current) throw new Error(`Chunk row of an unknown record ${cursor.current.row}`);
}

function framesAmiss({ row, nFrames }: CountedRecord, summary: SequenceSummary): AppFailure {
  const cause = `Row ${row} has ${summary.nFrames} frames in its results, ${nFrames} in the input.`;
  return new AppFailure(appError('internal', cause));
}

function chunkAmiss({ row, nChunks }: CountedRecord, { chunk }: ScannedChunk): AppFailure {
  const cause = `Row ${row} has a chunk ${chunk + 1} in its results, ${nChunks} in the input.`;
  return new AppFailure(appError('internal', cause));
}
