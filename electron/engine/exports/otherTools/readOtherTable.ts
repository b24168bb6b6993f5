import { basename } from 'node:path';
import { type AppFailure, usage } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { CallRule, OtherRule } from '../../../contract/otherTools.ts';
import { isOriginalHead } from '../compare/originalResults.ts';
import { noTable, tableRows } from '../../inputs/tableRows.ts';
import { type Call, callByRule, layoutOf } from './knownTables.ts';

/** A sequence as another tool's table names it. */
export interface OtherLine {
  name: string;
  isVirus: Call;
  /** Values in the order of the table's columns. */
  values: string[];
}

export interface ReadOtherTable {
  title: string;
  /** The files that it was read from, joined by commas. */
  file: string;
  rule: OtherRule;
  /** The rule that the user named. */
  named: CallRule | null;
  columns: string[];
  lines: OtherLine[];
}

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
  const rows = tableRows(path, signal);
  const head = await rows.next();
  const names = head.done === true ? [] : head.value.map((name) => name.trim());
  if (names.length === 0 || names.length > MOST_COLUMNS) {
    await rows.return(undefined);
    throw noTable(file, 'It has no line of column names.');
  }
  if (isOriginalHead(names)) {
    await rows.return(undefined);
    throw usage(message('original.is_compared', { file }));
  }
  const layout = layoutOf(names, file);
  if (layout === null) {
    await rows.return(undefined);
    throw noTable(file, 'Its first line names no column of sequence names.');
  }
  const { call, title, rule } = layout;
  const nameAt = names.indexOf(layout.names);
  const own = named?.column ?? null;
  if (own !== null && !names.includes(own)) {
    await rows.return(undefined);
    throw noColumn(own, names);
  }
  const columns = [...new Set([...(own === null ? [] : [own]), ...layout.shown])];
  const lines: OtherLine[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const cell = (column: string): string => beginningOf(row[names.indexOf(column)] ?? '', LONGEST_CELL);
    const name = beginningOf(row[nameAt] ?? '', LONGEST_NAME);
    if (name === '') continue;
    const line = { name, isVirus: call(cell), values: columns.map(cell) };
    bytes += bytesOfLine(line);
    if (bytes > mostBytes) throw tablesTooLarge();
    lines.push(line);
  }
  if (lines.length === 0) throw noTable(file, 'It has no lines besides the names of its columns.');
  const table = { title, file, rule, named: null, columns, lines };
  return named === undefined ? table : calledBy(table, named);
}

/** The table with calls by the rule that the user names. */
export function calledBy(table: ReadOtherTable, named: CallRule): ReadOtherTable {
  const { columns, lines } = table;
  if (named.column !== null && !columns.includes(named.column)) throw noColumn(named.column, columns);
  const call = callByRule(named);
  if (call === null)
    throw usage(
      `"${named.virus}" is no rule.`,
      'Give a limit such as >=0.9, or the words that mean virus, joined by |.',
    );
  return {
    ...table,
    rule: named.column === null ? 'listed' : 'named',
    named,
    lines: lines.map((line) => ({
      ...line,
      isVirus: call((column) => line.values[columns.indexOf(column)] ?? ''),
    })),
  };
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

function noColumn(column: string, columns: readonly string[]): AppFailure {
  return usage(`The table has no column "${column}".`, `It has ${columns.join(', ')}.`);
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
