import { AS_TEXT, quoted } from '../../store/duckdb/quoted.ts';
import type { LinesQuestion } from '../../store/duckdb/sequenceLines.ts';
import type { ExportSource } from '../exportSource.ts';
import type { WholeFile } from '../wholeFile.ts';
import type { Column } from './columns.ts';

/**
 * The lines of a table in UTF-8, some at a time: DuckDB writes them. `lineOf` gives the SQL of a line, from columns whose `sql` is the value in
 * this line and from `place`, which counts them from 1.
 */
export async function* tableLines(
  source: ExportSource,
  columns: readonly Column[],
  lineOf: (columns: readonly Column[]) => string,
  more: Pick<LinesQuestion, 'head' | 'limit' | 'statement'> = {},
): AsyncGenerator<Uint8Array> {
  const { store, selection, sort } = source;
  const id = await store.openLines({
    ...{ selection, sort, ...more },
    columns: columns.map(({ sql }) => sql),
    line: lineOf(columns.map((column, i) => ({ ...column, sql: `c${i}` }))),
    tables: [...new Set(columns.flatMap(({ from }) => from ?? []))],
  });
  try {
    for (let done = more.limit?.offset ?? 0; ;) {
      source.report(Math.min(done, source.count));
      const lines = await store.nextLines(id);
      if (lines === null) break;
      yield lines.bytes;
      done += lines.count;
    }
  } finally {
    await store.closeLines(id);
  }
}

const AS_LINES = `${AS_TEXT}, HEADER false`;

/** Lets DuckDB write a whole file of the lines, or of columns in another format of its COPY. */
export async function writeTable(
  source: ExportSource,
  columns: readonly Column[],
  file: WholeFile,
  lineOf: (columns: readonly Column[]) => string,
  { head, format = AS_LINES }: Pick<LinesQuestion, 'head'> & { format?: string },
): Promise<void> {
  await file.fillByPath(async (path) => {
    const statement = ['COPY (', `) TO ${quoted(path)} (${format}, USE_TMP_FILE false)`] as const;
    // What a COPY answers is no line of the table.
    const copying = tableLines(source, columns, lineOf, { head, statement });
    while (!(await copying.next()).done);
  });
  source.report(source.count);
}
