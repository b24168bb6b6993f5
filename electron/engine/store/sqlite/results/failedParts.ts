import type Database from 'better-sqlite3';
import { partPath } from '../parts/partRows.ts';
import { cellText } from '../../../results/inputLabels.ts';

interface FailedPart {
  key: string;
  path: string;
  error: string;
}

/** Parts that were given up, as the failed lists name them. */
export class FailedParts {
  readonly #byId = new Map<number, FailedPart>();
  readonly #keyOf: Database.Statement<[number], string>;

  constructor(db: Database.Database) {
    interface Columns {
      id: number;
      key: string;
      state: string;
      code: string | null;
      message: string | null;
    }
    const rows = db
      .prepare<[], Columns>(
        `SELECT id, key, state, failure_code AS code, failure_message AS message FROM part
         WHERE state IN ('failed', 'skipped') ORDER BY number, key`,
      )
      .all();
    for (const { id, key, state, code, message } of rows) {
      const error = code === null ? state : `${code}: ${message ?? ''}`;
      this.#byId.set(id, { key, path: partPath(key), error: cellText(error) });
    }
    this.#keyOf = db.prepare<[number], string>('SELECT key FROM part WHERE id = ?').pluck();
  }

  get count(): number {
    return this.#byId.size;
  }

  /** Lines `path|stage|error` of failed_files.txt. The part's key ends the error, as bisected parts share their file. */
  *lines(): Generator<string> {
    for (const { key, path, error } of this.#byId.values())
      yield `${path}|scoring|${error.replaceAll('|', '/')} (part ${key})\n`;
  }

  /** Cells `parts` and `error` of failed_records.tsv, for the parts that failed chunks of a record came from. */
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
