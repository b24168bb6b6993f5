import { join } from 'node:path';
import { RESULT_FILES } from '../../../contract/results.ts';
import { columnName, columnsOf } from '../../../contract/columns.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import type { ProvisionalChanges } from '../../results/types.ts';
import type { CheckedFiles } from '../checkedFiles.ts';
import type { ResultFileDigest } from '../types.ts';
import { openDuckDb, type Connected, type DuckDb } from './duckdb.ts';
import { ONE_FILE, quotedPath } from './quoted.ts';
import { readingResultRows, resultColumns, ROWS, typeOf } from './resultRows.ts';

const PROVISIONAL = 'provisional';

/** Whole tables are written in little memory: what a sort needs beyond that goes to disk. */
const APART = { threads: 1, memory: '150MB' } as const;

/** What run.db says of the results. */
export interface RunFacts {
  readonly labels: () => RunLabels;
  /** The number of sequences of a finished run; null before. */
  readonly finished: () => number | null;
  /** A file as the run has written it last. */
  readonly written: (name: string) => ResultFileDigest | undefined;
  /** Derives what is not derived yet, for about this long. */
  readonly derive: (milliseconds: number) => ProvisionalChanges;
  readonly discard: () => void;
}

/** The sequence results of a run as the table `sequences` of a DuckDB; `placed` has the row's place in the file, by which few others are read. */
export interface ResultSource {
  readonly facts: RunFacts;
  readonly duck: () => Promise<DuckDb>;
  /** A connection that no other waits for, with temporary tables of its own. */
  readonly apart: () => Promise<Connected>;
  /**
   * Derives missing results of an unfinished run for about this long; returns whether everything derivable is
   * there.
   */
  readonly derive: (milliseconds: number) => Promise<boolean>;
  /** Changes whenever the results change. */
  readonly version: () => number;
  /** Whether what is shown was derived, and so lacks the calls of read pairs. */
  readonly isDerived: () => boolean;
  readonly close: () => Promise<void>;
}

/**
 * For a finished run these are the rows of results.parquet. If that file is missing or was replaced, and for
 * an unfinished run, they are derived from run.db into memory, part by part, so that a run that nobody looks
 * at costs nothing.
 */
export function resultSource(folder: string, facts: RunFacts, files: CheckedFiles): ResultSource {
  const path = join(folder, RESULT_FILES.results);
  let opened: Promise<DuckDb> | null = null;
  let version = 0;
  /** SHA-256 of the file that is shown; empty while results are derived, null before anything is shown. */
  let shown: string | null = null;
  const refused = new Set<string>();

  const duck = (): Promise<DuckDb> => (opened ??= openDuckDb());
  let reading: ReturnType<typeof readingResultRows> | null = null;

  /** SHA-256 of the results.parquet that belongs to the run; null if it has none. */
  async function ownFile(): Promise<string | null> {
    if (facts.finished() === null) return null;
    const written = facts.written(RESULT_FILES.results);
    if (!written || refused.has(written.sha256)) return null;
    return (await files.isAsWritten(RESULT_FILES.results, written)) ? written.sha256 : null;
  }

  const viewOfFile = (): string =>
    `SET parquet_metadata_cache = true;
     SET enable_external_file_cache = false;
     CREATE OR REPLACE VIEW placed AS SELECT ${shownColumns(facts.labels())}, true AS settled, file_row_number AS place
       FROM read_parquet(${quotedPath(path)}, ${ONE_FILE}, file_row_number = true);
     CREATE OR REPLACE VIEW sequences AS SELECT * EXCLUDE (place) FROM placed`;

  async function showFile(sha256: string): Promise<boolean> {
    const store = await duck();
    try {
      await store.run(viewOfFile());
      const [found] = await store.rows<{ count: bigint; first: number | null; last: number | null }>(
        'SELECT count(*) AS count, min(row) AS first, max(row) AS last FROM sequences',
      );
      const records = facts.finished() ?? 0;
      if (
        Number(found?.count) !== records ||
        (records > 0 && (found?.first !== 0 || found.last !== records - 1))
      )
        throw new Error('These are other rows.');
    } catch {
      // It has the recorded bytes, and yet it is no valid table: only a forgery of both leads here.
      refused.add(sha256);
      shown = null;
      return false;
    }
    await store.run(`DROP TABLE IF EXISTS ${PROVISIONAL}`);
    facts.discard();
    shown = sha256;
    version += 1;
    return true;
  }

  async function derive(milliseconds: number): Promise<boolean> {
    const [file] = await Promise.all([ownFile(), duck()]);
    if (file !== null && (file === shown || (await showFile(file)))) return true;
    const { restarted, rows, replaced, done, damage } = facts.derive(milliseconds);
    const store = await duck();
    const labels = facts.labels();
    const run = await (reading ??= readingResultRows(store));
    if (shown !== '' || restarted) {
      await run(`CREATE OR REPLACE TABLE ${PROVISIONAL} AS FROM ${ROWS}`, []);
      await store.run(
        `CREATE OR REPLACE VIEW sequences AS SELECT ${shownColumns(labels)}, settled FROM (${resultColumns(PROVISIONAL, labels, ['settled'])});
         CREATE OR REPLACE VIEW placed AS SELECT *, row AS place FROM sequences`,
      );
      shown = '';
      version += 1;
    }
    if (replaced.length > 0)
      await store.run(`DELETE FROM ${PROVISIONAL} WHERE row IN (${replaced.join(', ')})`);
    if (rows.length > 0) {
      await run(`INSERT INTO ${PROVISIONAL} FROM ${ROWS}`, rows);
      version += 1;
    }
    if (damage) throw damage;
    return done;
  }

  return {
    facts,
    duck,
    apart: async () => {
      if (shown === '') return (await duck()).connect();
      const own = await openDuckDb(APART);
      await own.run(viewOfFile());
      return own;
    },
    derive,
    version: () => version,
    isDerived: () => shown === '',
    close: async () => {
      await opened?.then((store) => store.close()).catch(() => undefined);
      opened = reading = null;
    },
  };
}

/** The columns are named and typed, so that a file with other columns is refused at once. */
function shownColumns(labels: RunLabels): string {
  return columnsOf('results', labels)
    .map((key) => `${columnName(key)}::${typeOf(key)} AS ${columnName(key)}`)
    .join(', ');
}
