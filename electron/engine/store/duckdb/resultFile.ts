import { closeSync, fsyncSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RESULT_FILES, type SequenceResult } from '../../../contract/results.ts';
import { hashDescriptor } from '../../files/hashFile.ts';
import { replaceFile } from '../../files/replaceFile.ts';
import { openNew, openPlain } from '../../files/runFiles.ts';
import type { SequenceSummary } from '../../results/sequenceTally.ts';
import type { DescribedRecord } from '../sqlite/results/derive/recordScan.ts';
import type { ResultFileDigest } from '../types.ts';
import { openDuckDb, quoted, type DuckDb } from './duckdb.ts';
import { resultColumns, ResultRows, type RunLabels } from './resultRows.ts';

const STAGED = 'staged';
/** One thread writes the same bytes for the same rows every time. */
const WRITING = { threads: 1, memory: '100MB' } as const;

/**
 * results.parquet while it is written: like the other tables under a temporary name until all of them are
 * complete.
 */
export class ResultFile {
  readonly name = RESULT_FILES.results;
  readonly #path: string;
  readonly #temporary: string;
  readonly #duck: DuckDb;
  readonly #rows: ResultRows;
  readonly #labels: RunLabels;

  private constructor(folder: string, duck: DuckDb, rows: ResultRows, labels: RunLabels) {
    this.#path = join(folder, RESULT_FILES.results);
    this.#temporary = `${this.#path}.tmp`;
    this.#duck = duck;
    this.#rows = rows;
    this.#labels = labels;
  }

  static async open(folder: string, labels: RunLabels): Promise<ResultFile> {
    const duck = await openDuckDb(WRITING);
    await ResultRows.create(duck, STAGED);
    return new ResultFile(folder, duck, await ResultRows.open(duck, STAGED, labels.chunkLength), labels);
  }

  add(
    record: DescribedRecord,
    summary: SequenceSummary,
    p: number | null,
    pair: SequenceResult['pair'],
  ): void {
    this.#rows.add(record, summary, { pValue: p, pair });
  }

  /** Flushes everything to disk, still under the temporary name. */
  async finish(): Promise<ResultFileDigest> {
    this.#rows.finish();
    // DuckDB opens the file by its name, which must be neither a link nor somebody else's file.
    closeSync(openNew(this.#temporary));
    await this.#duck.run(
      `COPY (${resultColumns(STAGED, this.#labels)}) TO ${quoted(this.#temporary)}
       (FORMAT parquet, COMPRESSION snappy, KV_METADATA {'virnucpro.model': ${quoted(this.#labels.model)}})`,
    );
    this.#duck.close();
    const descriptor = openPlain(this.#temporary, 'update');
    try {
      fsyncSync(descriptor);
      let bytes = 0;
      const sha256 = await hashDescriptor(descriptor, (more) => (bytes += more));
      return { bytes, sha256 };
    } finally {
      closeSync(descriptor);
    }
  }

  publish(): void {
    replaceFile(this.#temporary, this.#path);
  }

  discard(): void {
    this.#duck.close();
    rmSync(this.#temporary, { force: true });
  }
}
