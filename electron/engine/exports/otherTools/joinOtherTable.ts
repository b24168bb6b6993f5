import { lstatSync } from 'node:fs';
import { z } from 'zod';
import { type OtherTable, MOST_OTHER_TABLES, otherRuleSchema } from '../../../contract/otherTools.ts';
import type { SaidByTool, SequenceFilter } from '../../../contract/rpc/results.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { SequenceSelection } from '../../store/duckdb/selection.ts';
import { type OtherLine, type ReadOtherTable, tablesTooLarge } from './readOtherTable.ts';
import { usage } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../../system/runFiles.ts';
import { OTHER_TABLES_FILE } from '../../../contract/folderNames.ts';

const UNMATCHED_SHOWN = 20;

/** Another tool's table joined to the sequences of a run. */
export interface JoinedTable {
  readonly table: ReadOtherTable;
  readonly matched: number;
  readonly unmatched: readonly string[];
  /** Numbers of the sequences that the other tool calls a virus, ascending. */
  readonly theirs: readonly number[];
  /** Numbers of the sequences that its table names, ascending. */
  readonly named: readonly number[];
  /** For each of its columns, whether every value in it is a number. */
  readonly isNumeric: readonly boolean[];
  /** The other tool's line for a sequence; null if it has none. */
  readonly lineOf: (row: number) => OtherLine | null;
}

/**
 * Finds the sequences that a table names: by the whole name, else by its first word, else without the
 * suffixes of geNomad (`|provirus_1_900`) and VirSorter2 (`||full`), else by the name from the export for
 * CheckV (`row12_contig_7`). Of several lines for one sequence, such as two proviruses, the first that is a
 * virus counts. A name that several sequences share stands for each of them.
 */
export async function joinOtherTable(store: RunStore, table: ReadOtherTable): Promise<JoinedTable> {
  const wanted = new Set<string>();
  for (const { name } of table.lines) for (const candidate of candidates(name)) wanted.add(candidate);
  const rows = await store.rowsNamed([...wanted]);
  const lines = new Map<number, OtherLine>();
  const unmatched: string[] = [];
  let matched = 0;
  for (const line of table.lines) {
    const found = candidates(line.name).find((candidate) => rows.has(candidate));
    if (found === undefined) {
      if (unmatched.length < UNMATCHED_SHOWN) unmatched.push(line.name);
      continue;
    }
    matched += 1;
    const own = exportedAs(line.name);
    for (const row of rows.get(found) ?? []) {
      if (own?.name === found && own.row !== row) continue;
      const before = lines.get(row);
      if (!before || (line.isVirus && !before.isVirus)) lines.set(row, line);
    }
  }
  const theirs = [...lines].flatMap(([row, { isVirus }]) => (isVirus ? [row] : [])).sort((a, b) => a - b);
  const named = [...lines.keys()].sort((a, b) => a - b);
  const isNumeric = table.columns.map((_, i) =>
    isNumericColumn(table.lines.map(({ values }) => values[i] ?? '')),
  );
  return { table, matched, unmatched, theirs, named, isNumeric, lineOf: (row) => lines.get(row) ?? null };
}

const NO_VALUE = /^(na|nan)?$/i;
/** Not numbers with leading zeros, which are names: a number would lose the zeros. */
const NUMBER = /^[+-]?(0|[1-9]\d*)?(\.\d*)?(e[+-]?\d+)?$/i;

function isNumericColumn(values: readonly string[]): boolean {
  const present = values.filter((value) => !NO_VALUE.test(value));
  return present.length > 0 && present.every((value) => NUMBER.test(value) && numberIn(value) !== null);
}

/**
 * The value of a cell in a numeric column; null without a value, and if a number of this type cannot
 * represent it.
 */
export function numberIn(value: string): number | null {
  const number = NO_VALUE.test(value) ? Number.NaN : Number(value);
  return Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null;
}

function candidates(name: string): string[] {
  const [word = ''] = name.split(/\s/, 1);
  const bare = word.replace(/\|provirus_\d+_\d+$/, '').replace(/\|\|[\w.-]+$/, '');
  return [...new Set([name, word, bare, exportedAs(word)?.name ?? ''])].filter(
    (candidate) => candidate !== '',
  );
}

/** The sequence to which an export with unique names has given this name. */
function exportedAs(name: string): { row: number; name: string } | null {
  const [, no, rest] = /^row(\d+)_(\S+)/.exec(name) ?? [];
  return no === undefined || rest === undefined ? null : { row: Number(no) - 1, name: rest };
}

/** The selection of a filter that compares with the table it names. */
export function selectionOf(filter: SequenceFilter, joined: readonly JoinedTable[]): SequenceSelection {
  if (!filter.other) return { filter };
  const table = joined[filter.other.table];
  return { filter, theirs: table?.theirs ?? [], named: table?.named ?? [] };
}

/** Counts how far both agree. */
export async function summariseOtherTable(store: RunStore, joined: JoinedTable): Promise<OtherTable> {
  const { table, matched, unmatched, theirs, named } = joined;
  const [all, inTable, virus] = await Promise.all([
    store.countPredictions({ filter: {} }),
    store.countPredictions({ filter: {}, rows: named }),
    store.countPredictions({ filter: {}, rows: theirs }),
  ]);
  const count = (call: keyof typeof all.byPrediction) => ({
    virus: virus.byPrediction[call],
    notVirus: inTable.byPrediction[call] - virus.byPrediction[call],
    notInTable: all.byPrediction[call] - inTable.byPrediction[call],
  });
  const { title, file, rule, columns, lines } = table;
  const calls = {
    virus: count('virus'),
    others: count('others'),
    not_scored: count('not_scored'),
    failed: count('failed'),
  };
  return { title, file, rule, columns, lines: lines.length, matched, unmatched: [...unmatched], calls };
}

/** The columns of the other tool's line for a sequence. */
export function saidByTool({ table, lineOf }: JoinedTable, row: number): SaidByTool {
  const line = lineOf(row);
  return {
    title: table.title,
    isVirus: line?.isVirus ?? null,
    columns: table.columns
      .map((name, i) => ({ name, value: line?.values[i] ?? '' }))
      .filter(({ value }) => value !== ''),
  };
}

/** The other tool's line for a sequence, as one line of text. */
export function otherText(joined: JoinedTable, row: number): { isVirus: boolean; text: string } | null {
  const line = joined.lineOf(row);
  return line && { isVirus: line.isVirus, text: line.values.filter((value) => value !== '').join(' · ') };
}

/** All windows wait while it is parsed. */
export const MOST_KEPT_BYTES = 2 ** 24;

const storedSchema = z.array(
  z.object({
    title: z.string(),
    file: z.string(),
    rule: otherRuleSchema,
    columns: z.array(z.string()),
    lines: z.array(z.object({ name: z.string(), isVirus: z.boolean(), values: z.array(z.string()) })),
  }),
);

/** The tables of other tools that are stored with a run, in its folder. Empty if the file cannot be read. */
export function storedOtherTables(folder: string): ReadOtherTable[] {
  const path = pathInRun(folder, OTHER_TABLES_FILE);
  if (!somethingAt(path)) return [];
  const text = readPlain(path, MOST_KEPT_BYTES)?.toString('utf8');
  return (parseJson(storedSchema, text) ?? []).slice(0, MOST_OTHER_TABLES);
}

/** A stamp that shows whether they have changed; null if there are none. */
export function stampOfOtherTables(folder: string): string | null {
  const found = lstatSync(pathInRun(folder, OTHER_TABLES_FILE), { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/** Stores a table with the run; it replaces one with the same title. */
export function addOtherTable(folder: string, table: ReadOtherTable): void {
  const others = storedOtherTables(folder).filter(({ title }) => title !== table.title);
  if (others.length >= MOST_OTHER_TABLES)
    throw usage(`A run takes ${MOST_OTHER_TABLES} tables of other tools.`, 'Remove one first.');
  writeOtherTables(folder, [...others, table]);
}

export function removeOtherTable(folder: string, index: number): void {
  writeOtherTables(folder, storedOtherTables(folder).toSpliced(index, 1));
}

function writeOtherTables(folder: string, tables: readonly ReadOtherTable[]): void {
  if (tables.length === 0) {
    deleteInRun(folder, OTHER_TABLES_FILE);
    return;
  }
  const bytes = Buffer.from(JSON.stringify(tables));
  if (bytes.length > MOST_KEPT_BYTES) throw tablesTooLarge();
  replaceInRun(folder, OTHER_TABLES_FILE, bytes);
}
