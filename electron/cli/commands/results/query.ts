import { QUERY_EXAMPLES, QUERY_LIMITS, type QueryAnswer } from '../../../contract/rpc/query.ts';
import { answerAsTsv, formatCount, queryRun } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { withRun } from '../../openRunFolder.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';
import { textTable } from '../../output/textTable.ts';
import { otherTables } from '../../selectionAsked.ts';

export const QUERY_FORMATS = ['table', 'tsv', 'json'] as const;

export interface QueryFlags {
  format: (typeof QUERY_FORMATS)[number];
  with: string[];
  rows: number;
}

export const QUERY_HELP = `
Tables:
  sequences   a row for each sequence: the columns of results.parquet
  chunks      a row for each chunk: the columns of chunks.tsv (of a run that is done)
  samples     the sample of each input
  and a table for each other tool whose results lie beside the run, such as genomad, with the row of the sequence

Examples:
${QUERY_EXAMPLES.map(({ sql }) => `  virnucpro query RUN ${JSON.stringify(sql.replaceAll('\n', ' '))}`).join('\n')}
`;

/** Runs an SQL query on the results of a run. */
export async function query(run: string, sql: string, flags: QueryFlags, storeHost: URL): Promise<number> {
  return withRun(run, storeHost, async (store) => {
    const others = await otherTables(store, flags.with);
    const answer = await queryRun(store, sql, others, Math.min(flags.rows, QUERY_LIMITS.rows));
    toStandardOutput(WRITTEN[flags.format](answer));
    if (answer.isCut)
      toStandardError(`These are the first ${formatCount(answer.rows.length)} rows; there are more.`);
    return EXIT.done;
  });
}

const WRITTEN: Readonly<Record<QueryFlags['format'], (answer: QueryAnswer) => string>> = {
  table: ({ columns, rows }) =>
    textTable(
      columns.map(({ name }, i) => (rows.some((row) => typeof row[i] === 'number') ? `>${name}` : name)),
      rows.map((row) => row.map((cell) => String(cell ?? ''))),
    ).join('\n'),
  tsv: (answer) => answerAsTsv(answer).trimEnd(),
  json: ({ columns, rows }) =>
    JSON.stringify(
      rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null]))),
    ),
};
