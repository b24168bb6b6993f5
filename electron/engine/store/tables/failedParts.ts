import type Database from 'better-sqlite3';
import { said, toldOf, type PartFailureCode } from '../../../contract/problems.ts';
import { cellText } from '../../results/cellText.ts';
import { filesLeftOut } from '../types.ts';
import { readInputs, readLeftOut, readPlan } from '../sqlite/runRows.ts';

interface FailedPart {
  id: number;
  key: string;
  firstRow: number;
  lastRow: number;
  error: string;
}

/**
 * Files and parts that were given up, as the lists of failures show them: by the user's own files and
 * sequences.
 */
export class FailedParts {
  readonly #byId = new Map<number, FailedPart>();
  readonly #keyOf: Database.Statement<[number], string>;
  readonly #nameOf: Database.Statement<[number], string>;
  readonly #rowsOf: Database.Statement<
    [number, number, number],
    { first: number | null; last: number | null }
  >;
  readonly #isSample: boolean;
  readonly #db: Database.Database;

  constructor(db: Database.Database) {
    interface Columns {
      id: number;
      key: string;
      state: string;
      code: PartFailureCode | null;
      first_row: number;
      last_row: number;
    }
    const rows = db
      .prepare<[], Columns>(
        `SELECT id, key, state, failure_code AS code, first_row, last_row FROM part
         WHERE state IN ('failed', 'skipped') ORDER BY number, key`,
      )
      .all();
    for (const { id, key, state, code, first_row, last_row } of rows) {
      const error = code === null ? state : `${code}: ${toldOf(said(code, {}))}`;
      this.#byId.set(id, { id, key, firstRow: first_row, lastRow: last_row, error });
    }
    this.#db = db;
    this.#isSample = readPlan(db).order === 'sample';
    this.#rowsOf = db.prepare(
      'SELECT min(row) AS first, max(row) AS last FROM chunk WHERE row BETWEEN ? AND ? AND part = ?',
    );
    this.#keyOf = db.prepare<[number], string>('SELECT key FROM part WHERE id = ?').pluck();
    this.#nameOf = db
      .prepare<[number], string>('SELECT substr(name, 1, 200) FROM record WHERE row = ?')
      .pluck();
  }

  get count(): number {
    return this.#byId.size;
  }

  /**
   * Lines `path|stage|error` of failed_files.txt, in the earlier tool's format: first the unusable files,
   * then for each part that was given up the files that its sequences come from.
   */
  *lines(): Generator<string> {
    const inputs = readInputs(this.#db);
    for (const { path, stage, ...why } of filesLeftOut({ inputs, leftOut: readLeftOut(this.#db) }))
      yield line(path, stage, `${why.code}: ${toldOf(why)}`);
    for (const { id, key, firstRow, lastRow, error } of this.#byId.values()) {
      for (const { path, prepared } of inputs) {
        if (!prepared) continue;
        const from = Math.max(firstRow, prepared.firstRow);
        const to = Math.min(lastRow, prepared.firstRow + prepared.records - 1);
        if (from > to) continue;
        const { first = null, last = null } = this.#rowsOf.get(from, to, id) ?? {};
        if (first !== null && last !== null)
          yield line(path, 'scoring', `${error} (${this.#sequences(first, last)}, part ${key})`);
      }
    }
  }

  #sequences(first: number, last: number): string {
    const [from, to] = [first, last].map((row) => this.#nameOf.get(row) || `row ${row}`);
    if (first === last) return `sequence ${from}`;
    return `${this.#isSample ? 'some of the ' : ''}sequences ${from} to ${to}`;
  }

  /** Cells `parts` and `error` of failed_records.tsv, for the parts in which chunks of a record failed. */
  cells(ids: Iterable<number>): string {
    const keys: string[] = [];
    const errors = new Set<string>();
    for (const id of ids) {
      const part = this.#byId.get(id);
      keys.push(part?.key ?? this.#keyOf.get(id) ?? 'NA');
      if (part) errors.add(part.error);
    }
    return `${keys.join(',')}\t${errors.size > 0 ? [...errors].join('; ') : 'NA'}`;
  }
}

function line(path: string, stage: string, error: string): string {
  return `${cellText(path)}|${stage}|${cellText(error).replaceAll('|', '/')}\n`;
}
