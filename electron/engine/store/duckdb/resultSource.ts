import type Database from 'better-sqlite3';
import { join } from 'node:path';
import { RESULT_FILES } from '../../../contract/results.ts';
import { mateRows } from '../../results/sequenceRemarks.ts';
import { cellText, inputLabels } from '../../results/cellText.ts';
import { readResultFiles, readInputs, readPlan, readRun } from '../sqlite/runRows.ts';
import { provisionalSequences } from '../sqlite/results/derive/provisionalSequences.ts';
import type { CheckedFiles } from '../checkedFiles.ts';
import type { CheckedRows } from '../sqlite/parts/checkedRows.ts';
import { ONE_FILE, openDuckDb, quotedPath, type DuckDb } from './duckdb.ts';
import { readingResultRows, resultColumns, ROWS, type RunLabels } from './resultRows.ts';

const PROVISIONAL = 'provisional';

/** The sequence results of a run as the table `sequences` of a DuckDB. */
export interface ResultSource {
  readonly duck: () => Promise<DuckDb>;
  /**
   * Derives missing results of an unfinished run for about this long; returns whether everything derivable is
   * there.
   */
  readonly derive: (milliseconds: number) => Promise<boolean>;
  /** Changes whenever the results change. */
  readonly version: () => number;
  readonly close: () => Promise<void>;
}

/**
 * For a finished run these are the rows of results.parquet. If that file is missing or was replaced, and for
 * an unfinished run, they are derived from run.db into memory, part by part, so that a run that nobody looks
 * at costs nothing.
 */
export function resultSource(
  db: Database.Database,
  folder: string,
  { files, checked }: { files: CheckedFiles; checked: CheckedRows },
): ResultSource {
  const path = join(folder, RESULT_FILES.results);
  const provisional = provisionalSequences(db, checked);
  let opened: Promise<DuckDb> | null = null;
  let version = 0;
  /** SHA-256 of the file that is shown; empty while results are derived, null before anything is shown. */
  let shown: string | null = null;
  const refused = new Set<string>();

  const duck = (): Promise<DuckDb> => (opened ??= openDuckDb());
  let reading: ReturnType<typeof readingResultRows> | null = null;

  /** SHA-256 of the results.parquet that belongs to the run; null if it has none. */
  async function ownFile(): Promise<string | null> {
    if (readRun(db).state.phase !== 'done') return null;
    const written = readResultFiles(db)[RESULT_FILES.results];
    if (!written || refused.has(written.sha256)) return null;
    return (await files.isAsWritten(RESULT_FILES.results, written)) ? written.sha256 : null;
  }

  async function showFile(sha256: string): Promise<boolean> {
    const store = await duck();
    try {
      await store.run(
        `CREATE OR REPLACE VIEW sequences AS SELECT ${columnsOf(runLabels(db))}, true AS settled FROM read_parquet(${quotedPath(path)}, ${ONE_FILE})`,
      );
      const [found] = await store.rows<[bigint, number | null, number | null]>(
        'SELECT count(*), min(row), max(row) FROM sequences',
      );
      const records = readRun(db).prepared?.records ?? 0;
      if (Number(found?.[0]) !== records || (records > 0 && (found?.[1] !== 0 || found[2] !== records - 1)))
        throw new Error('These are other rows.');
    } catch {
      // It has the recorded bytes, and yet it is no valid table: only a forgery of both leads here.
      refused.add(sha256);
      shown = null;
      return false;
    }
    await store.run(`DROP TABLE IF EXISTS ${PROVISIONAL}`);
    provisional.discard();
    shown = sha256;
    version += 1;
    return true;
  }

  async function derive(milliseconds: number): Promise<boolean> {
    const file = await ownFile();
    if (file !== null && (file === shown || (await showFile(file)))) return true;
    const { restarted, rows, replaced, done, damage } = provisional.derive(milliseconds);
    const store = await duck();
    const labels = runLabels(db);
    const run = await (reading ??= readingResultRows(store, labels));
    if (shown !== '' || restarted) {
      await run(`CREATE OR REPLACE TABLE ${PROVISIONAL} AS FROM ${ROWS}`, []);
      await store.run(
        `CREATE OR REPLACE VIEW sequences AS SELECT ${columnsOf(labels)}, settled FROM (${resultColumns(PROVISIONAL, labels, ['settled'])})`,
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
    duck,
    derive,
    version: () => version,
    close: async () => {
      await opened?.then((store) => store.close()).catch(() => undefined);
      opened = reading = null;
    },
  };
}

/** What tables say about the run in every row. */
export function runLabels(db: Database.Database): RunLabels {
  const { chunkLength, model, trusted = null } = readPlan(db);
  const { name, notice } = model;
  const inputs = readInputs(db);
  const mates = mateRows(inputs);
  return {
    chunkLength,
    inputs: inputLabels(inputs.map(({ path }) => path)),
    mates,
    isPaired: mates.some((rows) => rows !== null),
    trusted,
    model: cellText(notice === null ? name : `${name} (${notice})`),
  };
}

/** The columns are named and typed, so that a file with other columns is refused at once. */
const columnsOf = ({ isPaired, trusted }: RunLabels): string =>
  [...COLUMNS, ...(isPaired ? PAIR_COLUMNS : []), ...(trusted ? ['p_value::FLOAT AS p_value'] : [])].join(
    ', ',
  );
const PAIR_COLUMNS = ['pair_score::FLOAT AS pair_score', 'pair_prediction::VARCHAR AS pair_prediction'];
const COLUMNS = [
  ...['row', 'n_chunks', 'n_chunks_scored', 'n_chunks_viral', 'n_frames_scored'].map(
    (name) => `${name}::INTEGER AS ${name}`,
  ),
  ...['length', 'n_bases_scored', 'n_bases_viral', 'best_chunk_start', 'best_chunk_end'].map(
    (name) => `${name}::BIGINT AS ${name}`,
  ),
  ...[
    'terminal_repeat_length',
    'n_chunks_lost',
    'n_chunks_lost_to_tag',
    'n_chunks_lost_to_tga',
    'genetic_code_hint',
  ].map((name) => `${name}::INTEGER AS ${name}`),
  'too_short::BOOLEAN AS too_short',
  ...['virus_score', 'viral_fraction', 'best_score', 'second_score'].map(
    (name) => `${name}::FLOAT AS ${name}`,
  ),
  ...[
    'seq_name',
    'header',
    'input',
    'prediction',
    'reason',
    'evidence',
    'best_frame',
    'terminal_repeat',
    'model',
  ].map((name) => `${name}::VARCHAR AS ${name}`),
];
