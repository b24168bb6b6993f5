import { exportFormat } from '../format.ts';
import { ByteWriter, ParquetWriter, schemaFromColumnData, type ColumnSource } from 'hyparquet-writer';
import type { CellValue, Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';
import type { WholeFile } from '../wholeFile.ts';

const ROWS_PER_GROUP = 100_000;

const TYPES = {
  text: 'STRING',
  integer: 'INT64',
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
  const bytes = new ByteWriter();
  const parquet = new ParquetWriter({
    writer: bytes,
    schema: schemaFromColumnData({
      columnData: columnData(
        columns.map(() => []),
        columns,
      ),
    }),
    createdBy: 'VirNucPro Desktop',
    kvMetadata: [
      { key: 'virnucpro.run', value: description.runId },
      { key: 'virnucpro.model', value: plan.model.name },
      ...(plan.model.notice === null ? [] : [{ key: 'virnucpro.notice', value: plan.model.notice }]),
    ],
  });
  let cells: CellValue[][] = columns.map(() => []);
  const writeGroup = async (): Promise<void> => {
    await parquet.write({ columnData: columnData(cells, columns), rowGroupSize: ROWS_PER_GROUP });
    cells = columns.map(() => []);
    await moveOn(bytes, file);
  };
  for await (const page of source.pages()) {
    for (const sequence of page)
      for (const [i, column] of columns.entries()) cells[i]!.push(column.value(sequence, source));
    if (cells[0]!.length >= ROWS_PER_GROUP) await writeGroup();
  }
  if (cells[0]!.length > 0) await writeGroup();
  await parquet.finish();
  await moveOn(bytes, file);
}

function columnData(cells: readonly CellValue[][], columns: readonly Column[]): ColumnSource[] {
  return columns.map(({ name, type }, i) => ({
    name,
    type: TYPES[type],
    nullable: true,
    data: type === 'integer' ? cells[i]!.map(toBigInt) : cells[i]!,
  }));
}

function toBigInt(value: CellValue): bigint | null {
  return typeof value === 'number' ? BigInt(value) : null;
}

/** Moves the writer's bytes to the file; its offset continues to count. */
async function moveOn(bytes: ByteWriter, file: WholeFile): Promise<void> {
  await file.write(bytes.getBytes().slice());
  bytes.index = 0;
}

export const parquet = exportFormat(
  'parquet',
  'tables',
  {
    en: ['Parquet', 'For R, Python and databases; scores in full precision'],
    de: ['Parquet', 'Für R, Python und Datenbanken; Werte in voller Genauigkeit'],
  },
  async ({ source, columns, file }) => writeParquet(source, await columns(), file),
);
