import { identifier, quoted } from '../../store/duckdb/quoted.ts';
import { exportFormat } from '../format.ts';
import type { Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';
import { writeTable } from './tableLines.ts';
import type { WholeFile } from '../wholeFile.ts';

const TYPES = {
  text: 'VARCHAR',
  integer: 'BIGINT',
  score: 'FLOAT',
  share: 'FLOAT',
  number: 'DOUBLE',
  flag: 'BOOLEAN',
} as const;

/**
 * Apache Parquet with Snappy: scores in full precision, counts as 64-bit integers, nulls for missing values.
 */
async function writeParquet(
  source: ExportSource,
  columns: readonly Column[],
  file: WholeFile,
): Promise<void> {
  const { description, plan } = source.run;
  const { name, notice } = plan.model;
  const facts = { run: description.runId, model: name, ...(notice !== null && { notice }) };
  const metadata = Object.entries(facts).map(([key, value]) => `'virnucpro.${key}': ${quoted(value)}`);
  const lineOf = (of: readonly Column[]) =>
    of.map((column) => `${column.sql}::${TYPES[column.type]} AS ${identifier(column.name)}`).join(', ');
  const format = `FORMAT parquet, COMPRESSION snappy, KV_METADATA {${metadata.join(', ')}}`;
  await writeTable(source, columns, file, lineOf, { format });
}

export const parquet = exportFormat(
  'parquet',
  {
    en: ['Parquet', 'For R, Python and databases; scores in full precision'],
    de: ['Parquet', 'Für R, Python und Datenbanken; Werte in voller Genauigkeit'],
  },
  async ({ source, columns, file }) => writeParquet(source, await columns(), file),
);
