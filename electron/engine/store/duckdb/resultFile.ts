import { closeSync, fsyncSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { columnName, columnsOf, sequenceColumn } from '../../../contract/columns.ts';
import { hashDescriptor } from '../../system/hashFile.ts';
import { replaceFile } from '../../system/replaceFile.ts';
import { openNew, openPlain } from '../../system/runFiles.ts';
import type { ResultFileDigest } from '../types.ts';
import { textSql } from './cellSql.ts';
import { openDuckDb } from './duckdb.ts';
import { AS_TEXT, ONE_FILE, quoted, quotedPath } from './quoted.ts';
import type { SequenceResult } from '../../../contract/columns.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import { readingResultRows, resultColumns, ROWS } from './resultRows.ts';

/** Who reads some rows decompresses their groups; DuckDB's default, seven times as many, takes 45 MB more to write, too. */
const ROW_GROUP = 16_384;

/** Before a finished run is shown, all bytes of its file are hashed: these are a third fewer than Snappy's, and read as fast. */
const COMPRESSION = 'COMPRESSION zstd, COMPRESSION_LEVEL 1';

/** One thread writes the same bytes for the same rows every time. */
const WRITING = { threads: 1, memory: '100MB' } as const;

/** A table that DuckDB writes: like the others under a temporary name until all of them are complete. */
export class ResultFile {
  readonly name: string;
  readonly #path: string;
  readonly temporary: string;

  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    this.temporary = `${this.#path}.tmp`;
  }

  /** Lets `fill` write the file, and flushes it to disk, still under the temporary name. */
  async write(fill: (path: string) => Promise<unknown>): Promise<ResultFileDigest> {
    // DuckDB opens the file by its name, which must be neither a link nor somebody else's file.
    closeSync(openNew(this.temporary));
    await fill(this.temporary);
    const descriptor = openPlain(this.temporary, 'update');
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
    replaceFile(this.temporary, this.#path);
  }

  discard(): void {
    rmSync(this.temporary, { force: true });
  }
}

/** Writes results.parquet, and sequences.tsv from it unless that is null. Rejects with what the rows threw. */
export async function writeSequenceTables(
  results: ResultFile,
  sequences: ResultFile | null,
  rows: Iterable<SequenceResult>,
  labels: RunLabels,
): Promise<Record<string, ResultFileDigest>> {
  const duck = await openDuckDb(WRITING);
  try {
    const run = await readingResultRows(duck);
    const parquet = `(FORMAT parquet, ${COMPRESSION}, ROW_GROUP_SIZE ${ROW_GROUP}, KV_METADATA {'virnucpro.model': ${quoted(labels.model)}}, USE_TMP_FILE false)`;
    return {
      [results.name]: await results.write((path) =>
        run(`COPY (${resultColumns(ROWS, labels)}) TO ${quoted(path)} ${parquet}`, rows),
      ),
      ...(sequences && {
        [sequences.name]: await sequences.write((path) =>
          duck.run(
            `COPY (SELECT ${textColumns(labels)} FROM read_parquet(${quotedPath(results.temporary)}, ${ONE_FILE})) TO ${quoted(path)} (${AS_TEXT}, USE_TMP_FILE false)`,
          ),
        ),
      }),
    };
  } finally {
    duck.close();
  }
}

/** The columns of sequences.tsv. */
function textColumns(labels: RunLabels): string {
  const columns = columnsOf('sequences', labels).map((key) => {
    const sql = columnName(key);
    return `${textSql({ type: sequenceColumn(key).kind, sql })} AS ${sql}`;
  });
  return columns.join(', ');
}
