import { lstatSync } from 'node:fs';
import { z } from 'zod';
import {
  type CallRule,
  type OtherSays,
  type OtherTable,
  MOST_OTHER_TABLES,
} from '../../../contract/otherTools.ts';
import type { Prediction } from '../../../contract/results.ts';
import type { SaidByTool, SequenceFilter } from '../../../contract/rpc/results.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { SequenceSelection } from '../../store/duckdb/selection.ts';
import { NO_VALUE, namesMeant } from './knownTables.ts';
import {
  calledBy,
  joinedTables,
  type OtherLine,
  type ReadOtherTable,
  readOtherTableSchema,
  tablesTooLarge,
} from './readOtherTable.ts';
import { usage } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../../system/runFiles.ts';
import { OTHER_TABLES_FILE } from '../../../contract/folderNames.ts';

const UNMATCHED_SHOWN = 20;
/** The most lines for one sequence whose values are shown; all of them count for its call. */
const LINES_SHOWN = 20;

/** Another tool's table joined to the sequences of a run. */
export interface JoinedTable {
  readonly table: ReadOtherTable;
  readonly matched: number;
  readonly unmatched: readonly string[];
  /** Numbers of the sequences that it calls a virus, something else, or neither, ascending. */
  readonly rows: Readonly<Record<'virus' | 'notVirus' | 'noCall', readonly number[]>>;
  /** Numbers of the sequences that its table names, ascending. */
  readonly named: readonly number[];
  /** For each of its columns, whether every value in it is a number. */
  readonly isNumeric: readonly boolean[];
  /** The other tool's line for a sequence; null if it has none. */
  readonly lineOf: (row: number) => OtherLine | null;
}

/**
 * Finds the sequences that a table names: by the whole name, else as the tool changes names, else by the first
 * word, else without the suffixes of geNomad (`|provirus_1_900`) and VirSorter2 (`||full`), else by the name
 * from the export for CheckV (`row12_contig_7`). A line belongs to a sequence only if no other names it more
 * surely. Several lines that do so equally, such as two proviruses, are kept as one. A name that several
 * sequences share stands for each of them.
 */
export async function joinOtherTable(store: RunStore, table: ReadOtherTable): Promise<JoinedTable> {
  const meant = table.lines.map(({ name }) => namesMeant(table.title, name));
  const rows = await store.rowsNamed([...new Set(meant.flatMap((names) => names.map(({ name }) => name)))]);
  const found = meant.map((names) => {
    const [match, next] = names.filter(({ name }) => rows.has(name));
    if (match === undefined) return null;
    // Two sequences that the tool may have written alike.
    if (match.guess > 0 && next?.guess === match.guess) return null;
    const all = rows.get(match.name) ?? [];
    return { ...match, rows: match.row === undefined ? all : all.filter((row) => row === match.row) };
  });
  const surest = new Map<number, number>();
  for (const match of found)
    for (const row of match?.rows ?? [])
      surest.set(row, Math.min(match?.guess ?? Infinity, surest.get(row) ?? Infinity));
  const ofRow = new Map<number, OtherLine[]>();
  const unmatched: string[] = [];
  let matched = 0;
  for (const [i, line] of table.lines.entries()) {
    const own = found[i]?.rows.filter((row) => surest.get(row) === found[i]?.guess) ?? [];
    for (const row of own) {
      const before = ofRow.get(row);
      if (before) before.push(line);
      else ofRow.set(row, [line]);
    }
    if (own.length > 0) matched += 1;
    else if (unmatched.length < UNMATCHED_SHOWN) unmatched.push(line.name);
  }
  const lines = new Map([...ofRow].map(([row, several]) => [row, oneLine(several)]));
  const named = [...lines.keys()].sort((a, b) => a - b);
  const called = (call: boolean | null) => named.filter((row) => lines.get(row)?.isVirus === call);
  const isNumeric = table.columns.map((_, i) =>
    isNumericColumn([...table.lines, ...lines.values()].map(({ values }) => values[i] ?? '')),
  );
  return {
    ...{ table, matched, unmatched, named, isNumeric },
    rows: { virus: called(true), notVirus: called(false), noCall: called(null) },
    lineOf: (row) => lines.get(row) ?? null,
  };
}

/** What several lines say of one sequence: a virus if one of them says so, with the values of all. */
function oneLine(several: readonly OtherLine[]): OtherLine {
  const [first] = several;
  if (first === undefined) throw new Error('There is no line.');
  if (several.length === 1) return first;
  const calls = several.map(({ isVirus }) => isVirus);
  return {
    name: first.name,
    isVirus: calls.includes(true) ? true : calls.includes(null) ? null : false,
    values: first.values.map((_, i) => {
      const values = several.slice(0, LINES_SHOWN).map(({ values: of }) => of[i] ?? '');
      if (values.every((value) => value === '')) return '';
      const more = several.length > LINES_SHOWN ? ['…'] : [];
      return [...values.map((value) => value || 'NA'), ...more].join('; ');
    }),
  };
}

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

/** The selection of a filter that compares with the table it names, or with all tables at once. */
export function selectionOf(filter: SequenceFilter, joined: readonly JoinedTable[]): SequenceSelection {
  if (!filter.other) return { filter };
  const asked = joined.filter((_, table) => filter.other?.table === null || filter.other?.table === table);
  const { agreement } = filter.other;
  if (agreement === 'not_in_table')
    return { filter, theirs: [...new Set(asked.flatMap((one) => one.named))] };
  const call = { both: 'virus', only_theirs: 'virus', only_ours: 'notVirus', no_call: 'noCall' } as const;
  const [first, ...others] = asked.map(({ rows }) => new Set(rows[call[agreement]]));
  return { filter, theirs: [...(first ?? [])].filter((row) => others.every((rows) => rows.has(row))) };
}

/** Counts how far both agree. */
export async function summariseOtherTable(store: RunStore, joined: JoinedTable): Promise<OtherTable> {
  const { table, matched, unmatched, rows } = joined;
  const { lines, columns, rule, named } = table;
  const count = async (of?: readonly number[]) =>
    (await store.countPredictions({ filter: {}, ...(of && { rows: of }) })).byPrediction;
  const [all, virus, notVirus, noCall] = await Promise.all(
    [undefined, rows.virus, rows.notVirus, rows.noCall].map(count),
  );
  const countOf = (call: Prediction) => {
    const counts = { virus: virus![call], notVirus: notVirus![call], noCall: noCall![call] };
    return { ...counts, notInTable: all![call] - counts.virus - counts.notVirus - counts.noCall };
  };
  const calls = {
    virus: countOf('virus'),
    others: countOf('others'),
    not_scored: countOf('not_scored'),
    failed: countOf('failed'),
  };
  const unclear = lines.filter(({ isVirus }) => isVirus === null);
  const callAt = rule === 'named' ? columns.indexOf(named?.column ?? '') : 0;
  const words = rule === 'unknown' ? [] : unclear.map(({ values }) => values[callAt] ?? '');
  return {
    ...{ ...table, lines: lines.length, matched, unmatched: [...unmatched], calls },
    notUnderstood: {
      lines: unclear.length,
      words: [...new Set(words)].filter((word) => word !== '').slice(0, UNMATCHED_SHOWN),
    },
  };
}

/** The columns of the other tool's line for a sequence. */
export function saidByTool({ table, lineOf }: JoinedTable, row: number): SaidByTool {
  const line = lineOf(row);
  return {
    title: table.title,
    isNamed: line !== null,
    isVirus: line?.isVirus ?? null,
    columns: table.columns
      .map((name, i) => ({ name, value: line?.values[i] ?? '' }))
      .filter(({ value }) => value !== ''),
  };
}

/** The other tool's line for a sequence, as one line of text. */
export function otherText(joined: JoinedTable, row: number): OtherSays | null {
  const line = joined.lineOf(row);
  return line && { isVirus: line.isVirus, text: line.values.filter((value) => value !== '').join(' · ') };
}

/** All windows wait while it is parsed. */
export const MOST_KEPT_BYTES = 2 ** 24;

/** The tables of other tools that are stored with a run, in its folder. Empty if the file cannot be read. */
export function storedOtherTables(folder: string): ReadOtherTable[] {
  const path = pathInRun(folder, OTHER_TABLES_FILE);
  if (!somethingAt(path)) return [];
  const text = readPlain(path, MOST_KEPT_BYTES)?.toString('utf8');
  return (parseJson(z.array(readOtherTableSchema), text) ?? []).slice(0, MOST_OTHER_TABLES);
}

/** A stamp that shows whether they have changed; null if there are none. */
export function stampOfOtherTables(folder: string): string | null {
  const found = lstatSync(pathInRun(folder, OTHER_TABLES_FILE), { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/** Stores a table with the run, joined with one of the same layout, whose rule it gets. */
export function addOtherTable(folder: string, table: ReadOtherTable): void {
  const stored = storedOtherTables(folder);
  const { named } =
    stored.find((one) => one.title === table.title && String(one.columns) === String(table.columns)) ?? {};
  const tables = joinedTables([...stored, named ? calledBy(table, named) : table]);
  if (tables.length > MOST_OTHER_TABLES)
    throw usage(`A run takes ${MOST_OTHER_TABLES} tables of other tools.`, 'Remove one first.');
  writeOtherTables(folder, tables);
}

/** Makes the calls of a stored table by the rule that the user names. */
export function callOtherTable(folder: string, index: number, rule: CallRule): void {
  writeOtherTables(
    folder,
    storedOtherTables(folder).map((table, i) => (i === index ? calledBy(table, rule) : table)),
  );
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
