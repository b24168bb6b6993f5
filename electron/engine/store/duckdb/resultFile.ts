import { closeSync, fsyncSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RESULT_FILES } from '../../../contract/results.ts';
import { hashDescriptor } from '../../system/hashFile.ts';
import { replaceFile } from '../../system/replaceFile.ts';
import { openNew, openPlain } from '../../system/runFiles.ts';
import type { ResultFileDigest } from '../types.ts';
import { openDuckDb } from './duckdb.ts';
import { quoted } from './quoted.ts';
import type { SequenceResult } from '../../../contract/columns.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import { readingResultRows, resultColumns, ROWS } from './resultRows.ts';

/** DuckDB holds the rows of one group until it writes them; its default, three times as many, takes 45 MB more for ten million rows. */
const ROW_GROUP = 40_960;

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

  constructor(folder: string) {
    this.#path = join(folder, RESULT_FILES.results);
    this.#temporary = `${this.#path}.tmp`;
  }

  /** Writes the file and flushes it to disk, still under the temporary name. Rejects with what the rows threw. */
  async write(rows: Iterable<SequenceResult>, labels: RunLabels): Promise<ResultFileDigest> {
    // DuckDB opens the file by its name, which must be neither a link nor somebody else's file.
    closeSync(openNew(this.#temporary));
    const duck = await openDuckDb(WRITING);
    try {
      const run = await readingResultRows(duck);
      await run(
        `COPY (${resultColumns(ROWS, labels)}) TO ${quoted(this.#temporary)}
         (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE ${ROW_GROUP}, KV_METADATA {'virnucpro.model': ${quoted(labels.model)}})`,
        rows,
      );
    } finally {
      duck.close();
    }
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
    rmSync(this.#temporary, { force: true });
  }
}
