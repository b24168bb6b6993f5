import { basename } from 'node:path';
import { z } from 'zod';
import { type AppFailure, usage } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { type CallRule, otherTableSchema } from '../../../contract/otherTools.ts';
import { isOriginalHead } from '../compare/originalResults.ts';
import { noTable, tableRows } from '../../inputs/tableRows.ts';
import { layoutOf, ruled } from './knownTables.ts';

/** A sequence as another tool's table names it: its call, and values in the order of the table's columns. */
const otherLineSchema = z.object({
  name: z.string(),
  isVirus: z.boolean().nullable(),
  values: z.array(z.string()),
});
export type OtherLine = z.infer<typeof otherLineSchema>;

/** Of a table of several files, `file` has their names, joined by commas. */
export const readOtherTableSchema = otherTableSchema
  .pick({ title: true, file: true, rule: true, named: true, columns: true })
  .extend({ lines: z.array(otherLineSchema) });
export type ReadOtherTable = z.infer<typeof readOtherTableSchema>;

const MOST_COLUMNS = 1000;
const LONGEST_CELL = 400;
const LONGEST_NAME = 1000;

interface ReadingOptions {
  signal?: AbortSignal | undefined;
  /** The largest size of the result as JSON, within a few bytes per line. */
  mostBytes?: number | undefined;
  /** The user's own rule instead of the table's. */
  named?: CallRule | undefined;
}

/**
 * Reads another tool's table, separated by tabs, commas or semicolons. Rejects with AppFailure if the file is
 * no such table.
 */
export async function readOtherTable(
  path: string,
  { signal, mostBytes = Infinity, named }: ReadingOptions = {},
): Promise<ReadOtherTable> {
  const file = basename(path);
  const lines: OtherLine[] = [];
  let head: ReturnType<typeof readHead> | null = null;
  let bytes = 0;
  for await (const row of tableRows(path, signal)) {
    if (head === null) {
      head = readHead(row, file, named);
      continue;
    }
    const { names, nameAt, columns, layout } = head;
    const cell = (column: string): string => beginningOf(row[names.indexOf(column)] ?? '', LONGEST_CELL);
    const name = beginningOf(row[nameAt] ?? '', LONGEST_NAME);
    if (name === '') continue;
    const line = { name, isVirus: layout.call(cell), values: columns.map(cell) };
    bytes += bytesOfLine(line);
    if (bytes > mostBytes) throw tablesTooLarge();
    lines.push(line);
  }
  if (head === null || lines.length === 0)
    throw noTable(file, 'It has no lines besides the names of its columns.');
  const { title, rule, named: known } = head.layout;
  return { title, file, rule, named: known, columns: head.columns, lines };
}

/** What the first line says of the table. */
function readHead(row: readonly string[], file: string, named: CallRule | undefined) {
  const names = row.map((name) => name.trim());
  if (names.length > MOST_COLUMNS) throw noTable(file, 'It has no line of column names.');
  if (isOriginalHead(names)) throw usage(message('original.is_compared', { file }));
  const known = layoutOf(names, file);
  if (known === null) throw noTable(file, 'Its first line names no column of sequence names.');
  const nameAt = names.indexOf(known.names);
  if (!named) return { names, nameAt, columns: [...known.shown], layout: known };
  return {
    ...{ names, nameAt },
    columns: [...new Set([...columnOf(named, names), ...known.shown])],
    layout: { ...known, ...ruled(named) },
  };
}

/** The table with calls by the rule that the user names. */
export function calledBy(table: ReadOtherTable, named: CallRule): ReadOtherTable {
  const { columns, lines } = table;
  columnOf(named, columns);
  const { call, rule } = ruled(named);
  return {
    ...{ ...table, rule, named },
    lines: lines.map((line) => ({
      ...line,
      isVirus: call((column) => line.values[columns.indexOf(column)] ?? ''),
    })),
  };
}

/** The column of a rule, which the table must have. */
function columnOf({ column }: CallRule, columns: readonly string[]): string[] {
  if (column === null) return [];
  if (columns.includes(column)) return [column];
  throw usage(`The table has no column "${column}".`, `It has ${columns.join(', ')}.`);
}

/**
 * Tables of one layout, such as those of several samples, become one; a line that both have counts once. Other
 * tables stand side by side.
 */
export function joinedTables(tables: readonly ReadOtherTable[]): ReadOtherTable[] {
  const layoutKey = ({ title, rule, named, columns }: ReadOtherTable) =>
    JSON.stringify([title, rule, named, columns]);
  return [...Map.groupBy(tables, layoutKey).values()].map((same) => ({
    ...same[0]!,
    file: [...new Set(same.flatMap(({ file }) => file.split(', ')))].join(', '),
    lines: [
      ...new Map(
        same.flatMap(({ lines }) => lines.map((line) => [JSON.stringify([line.name, line.values]), line])),
      ).values(),
    ],
  }));
}

/** At least JSON's overhead around the cells counts, so that very many empty lines are refused as well. */
function bytesOfLine({ name, values }: OtherLine): number {
  return values.reduce((sum, value) => sum + value.length + 3, name.length + 40);
}

export function tablesTooLarge(): AppFailure {
  return usage(message('table.too_large'));
}

/** A substring keeps the whole string in memory, which a copy does not. */
function beginningOf(cell: string, most: number): string {
  const text = cell.trim();
  return text.length > most ? Buffer.from(text.slice(0, most)).toString() : text;
}
