import type { SequenceSort } from '../../contract/columns.ts';
import { QUERY_LIMITS, type QueryAnswer, type QueryCell } from '../../contract/rpc/results.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';
import type { RunStore } from '../store/runStore.ts';
import { ExportSource, type SourceOptions } from './exportSource.ts';
import { embeddings, checkv, fasta, proteins } from './sequenceFiles.ts';
import { bed, gff3 } from './features.ts';
import type { ExportFormat } from './format.ts';
import { multiqc } from './multiqc.ts';
import { report } from './report/writeReport.ts';
import { csv, tsv } from './table/delimited.ts';
import { parquet } from './table/parquet.ts';
import { textTables } from './table/textTables.ts';
import { xlsx } from './table/xlsx.ts';
import { openInputSequences } from './inputSequences.ts';
import { usedColumns } from './table/columns.ts';
import { WholeFile } from './wholeFile.ts';
import { cellText } from '../results/cellText.ts';
import type { QueryTable } from '../store/duckdb/queryProcess.ts';
import { numberIn, type JoinedTable } from './otherTools/joinOtherTable.ts';
import { samplesOf } from './samples.ts';
import { usage } from '../../contract/errors.ts';

/** All export formats, in the order in which they are offered. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  ...[xlsx, tsv, csv, parquet],
  ...[fasta, checkv, proteins],
  ...[gff3, bed],
  ...[multiqc, embeddings],
  report,
  ...textTables,
];

export function formatNamed(id: string): ExportFormat {
  const found = EXPORT_FORMATS.find((format) => format.id === id);
  if (found) return found;
  throw usage(`There is no export as ${id}.`);
}

export interface ExportRequest extends SourceOptions {
  selection: SequenceSelection;
  sort: SequenceSort;
  /** The id of one of EXPORT_FORMATS. */
  format: string;
  path: string;
  /** Called only if sequences are extracted from the inputs. */
  environment: () => Promise<PythonEnvironment>;
}

const WHOLE_RUN: Pick<ExportRequest, 'selection' | 'sort'> = {
  selection: { filter: {} },
  sort: { by: 'row', descending: false },
};

interface WrittenExport {
  sequences: number;
  bytes: number;
}

/** Writes the selected sequences, in the requested order, to a file that appears complete or not at all. */
export async function exportResults(store: RunStore, request: ExportRequest): Promise<WrittenExport> {
  const format = formatNamed(request.format);
  const { selection, sort } = format.isOfWholeRun ? WHOLE_RUN : request;
  const source = await ExportSource.open(store, selection, sort, request);
  let sequences = source.count;
  const bytes = await WholeFile.write(request.path, async (file) => {
    const written = await format.write({
      source,
      file,
      columns: () => usedColumns(source),
      withSequences: async (write) => {
        const inputs = await openInputSequences(source, selection, request.environment, request.path);
        try {
          return await write(inputs);
        } finally {
          await inputs.close();
        }
      },
    });
    if (typeof written === 'number') sequences = written;
  });
  return { sequences, bytes };
}

const OWN_TABLES = ['sequences', 'chunks', 'samples'];

/**
 * Runs an SQL query on the tables of a run and of other tools added to it, which are named after the tool:
 * `genomad`.
 */
export async function queryRun(
  store: RunStore,
  sql: string,
  others: readonly JoinedTable[],
  rows: number = QUERY_LIMITS.rows,
): Promise<QueryAnswer> {
  const samples = samplesOf(await store.loadRun());
  const names = new Set(OWN_TABLES);
  const tables = others.map((joined): QueryTable => {
    const plain = joined.table.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_') || 'other';
    let name = plain;
    for (let number = 2; names.has(name); number++) name = `${plain}_${number}`;
    names.add(name);
    return otherTable(name, joined);
  });
  return store.queryResults({ sql, samples, tables, rows }, QUERY_LIMITS.seconds);
}

/** One line for each sequence that the other tool names: `row` refers to sequences. */
function otherTable(name: string, { table, named, isNumeric, lineOf }: JoinedTable): QueryTable {
  const taken = new Set(['row', 'is_virus']);
  const columns = table.columns.map((column, i) => {
    const own = taken.has(column.toLowerCase()) ? `${column}_${i + 1}` : column;
    taken.add(own.toLowerCase());
    return { name: own, type: isNumeric[i] === true ? ('DOUBLE' as const) : ('VARCHAR' as const) };
  });
  return {
    name,
    columns: [{ name: 'row', type: 'INTEGER' }, { name: 'is_virus', type: 'BOOLEAN' }, ...columns],
    rows: named.map((row) => {
      const line = lineOf(row);
      const cells = columns.map(({ type }, i) => {
        const value = line?.values[i] ?? '';
        return type === 'DOUBLE' ? numberIn(value) : value || null;
      });
      return [row, line?.isVirus ?? null, ...cells];
    }),
  };
}

/** Formats the answer as a tab-separated table, with NA for missing values. */
export function answerAsTsv({ columns, rows }: QueryAnswer): string {
  const cell = (value: QueryCell): string => (value === null ? 'NA' : cellText(String(value)));
  return [columns.map(({ name }) => name), ...rows].map((row) => `${row.map(cell).join('\t')}\n`).join('');
}
