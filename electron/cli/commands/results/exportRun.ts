import { resolve } from 'node:path';
import {
  exportFileName,
  exportScope,
  type ExportLanguage,
  type ReportList,
} from '../../../contract/exports.ts';
import {
  exportResults,
  formatBytes,
  formatCount,
  formatNamed,
  answerAsTsv,
  queryRun,
} from '../../../engine/index.ts';
import type { CommonFlags } from '../../commonFlags.ts';
import { EXIT, stopSignals } from '../../exitCodes.ts';
import { sortOf, selectionAsked, otherTables } from '../../filterArgument.ts';
import { openEngine, withRun } from '../../openEngine.ts';
import { toStandardError, toStandardOutput, textTable } from '../../output/terminal.ts';
import { QUERY_EXAMPLES, QUERY_LIMITS, type QueryAnswer } from '../../../contract/rpc/results.ts';

export interface ExportFlags extends CommonFlags {
  format: string;
  filter: string[];
  sort: string;
  with: string[];
  output?: string;
  language: ExportLanguage;
  /** Of a report. */
  list?: ReportList;
}

/** Exports sequences of a run to a file. Ctrl-C cancels it and leaves no incomplete file. */
export async function exportRun(run: string, flags: ExportFlags): Promise<number> {
  const cancel = new AbortController();
  const onSignal = (): void => cancel.abort();
  for (const signal of stopSignals()) process.on(signal, onSignal);
  try {
    return await withRun(run, async (store) => {
      const stored = await store.loadRun();
      const { others, filter, selection } = await selectionAsked(store, stored, flags);
      const { total } = await store.countPredictions(selection);
      const fileName = exportFileName({
        runName: stored.description.name,
        model: stored.plan.model,
        format: formatNamed(flags.format),
        scope: exportScope(filter),
        sequences: total,
        state: stored.state,
      });
      const path = resolve(flags.output ?? fileName);
      const showsProgress = process.stderr.isTTY && flags.quiet !== true;
      const written = await exportResults(store, {
        selection,
        others,
        sort: sortOf(flags.sort),
        format: flags.format,
        language: flags.language,
        reportList: flags.list,
        path,
        environment: async () => (await openEngine({ ...flags, quiet: true })).environment,
        signal: cancel.signal,
        onProgress: ({ done, total: all }) => {
          if (showsProgress && all > 0) process.stderr.write(`\r${Math.floor((100 * done) / all)} % `);
        },
      });
      if (showsProgress) process.stderr.write('\r');
      if (flags.json === true) process.stdout.write(`${JSON.stringify({ path, ...written })}\n`);
      else if (flags.quiet !== true)
        toStandardError(
          (formatNamed(flags.format).isOfWholeRun ? '' : `${formatCount(written.sequences)} sequences, `) +
            `${formatBytes(written.bytes)}: ${path}`,
        );
      return EXIT.done;
    });
  } catch (reason) {
    if (!cancel.signal.aborted) throw reason;
    toStandardError('Cancelled; nothing was written.');
    return EXIT.interrupted;
  } finally {
    for (const signal of stopSignals()) process.off(signal, onSignal);
  }
}

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

export async function query(run: string, sql: string, flags: QueryFlags): Promise<number> {
  return withRun(run, async (store) => {
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
