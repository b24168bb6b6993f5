/* Apart from duckdb.ts, so that whoever only writes SQL does not bring DuckDB into the bundle of the main process. */

/** Quotes a name of a table or column. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes a text or path for SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Quotes the path of one file for `read_parquet`, which would treat some of its characters as a pattern. */
export function quotedPath(path: string): string {
  return quoted(path.replaceAll(/[*?[]/g, '[$&]'));
}

/**
 * A parameter of `read_parquet` and `read_csv`, which otherwise take a folder named `prediction=virus` for the
 * value of a column in every row.
 */
export const ONE_FILE = 'hive_partitioning = false';

/** A format of COPY: texts as they are, for no cell of ours has a tab or line break (see `cellText` in electron/engine/results/cellText.ts). */
export const AS_TEXT = String.raw`FORMAT csv, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR 'NA'`;
