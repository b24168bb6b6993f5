import {
  columnName,
  columnsOf,
  sequenceColumn,
  type ColumnKey,
  type RunKind,
  type SequenceColumn,
} from '../../../contract/columns.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { matesOf } from '../../../contract/samples.ts';
import { quoted } from '../../store/duckdb/quoted.ts';
import type { QueryTable } from '../../store/duckdb/queryProcess.ts';
import { shortlistOf } from '../../store/shortlist.ts';
import { cellText } from '../../results/cellText.ts';
import type { ExportSource } from '../exportSource.ts';
import { numberIn, type JoinedTable } from '../otherTools/joinOtherTable.ts';

/**
 * A column of an exported table. `score` and `share` are float32 from 0 to 1, `number` comes from another
 * tool. A `flag` is true or false wherever the format has such values.
 */
export interface Column {
  /** The name in sequences.tsv, if that has the column. */
  name: string;
  type: 'text' | 'integer' | 'score' | 'share' | 'number' | 'flag';
  heading: Record<ExportLanguage, string>;
  /** Width in characters that fits most of its cells. */
  width: number;
  /** Its value in SQL, from `sequences` or `from`: NULL if it has none, and a `number` as text, with the digits of JavaScript. */
  sql: string;
  /** A table with its values by `row`. */
  from?: QueryTable;
  /** What stands in text tables where a flag is true, and where it is false; True and False if absent. */
  flagTexts?: readonly [yes: string, no: string];
  /** The words for its values in the reader's language, for spreadsheets; other values have none. */
  words?: SequenceColumn['words'];
}

const headingOf = (key: ColumnKey) => ({ en: sequenceColumn(key).en[0], de: sequenceColumn(key).de[0] });

function ownColumn(key: ColumnKey): Column {
  const { kind, width = 12, words } = sequenceColumn(key);
  const name = columnName(key);
  // That a sequence is scored goes without saying.
  const shown = words && Object.fromEntries(Object.entries(words).filter(([value]) => value !== 'ok'));
  return {
    ...{ name, type: kind, heading: headingOf(key), width, sql: name },
    ...(shown && { words: shown }),
  };
}

function kindOf({ run: { inputs, plan } }: ExportSource): RunKind {
  return {
    isPaired: matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null),
    isCalibrated: plan.trusted !== undefined,
    looksTwice: plan.secondLook !== undefined,
  };
}

/** The columns of sequences.tsv. */
export function columnsOfRun(source: ExportSource): Column[] {
  return columnsOf('sequences', kindOf(source)).map(ownColumn);
}

/** The columns that were asked for and for which at least one of the selected sequences has a value. */
export async function usedColumns(source: ExportSource): Promise<Column[]> {
  const filled = new Set<string>(await source.store.columnsWithValues(source.selection));
  const [name, ...more] = columnsOf('exports', kindOf(source))
    .filter((key) => {
      const { needs } = sequenceColumn(key);
      return needs === undefined || filled.has(needs);
    })
    .map(ownColumn);
  const own: Column[] = [
    { name: 'no', type: 'integer', heading: headingOf('row'), width: 12, sql: 'row + 1' },
    ...(name ? [name] : []),
    ...sampleColumns(source),
    ...more,
  ];
  return [
    ...own.filter((one) => source.showsColumn(one.name)),
    ...source.others.flatMap((joined, table) =>
      source.showsColumn(`other ${table}`) ? otherColumns(joined, table, source.others) : [],
    ),
    ...(source.showsColumn('shortlist') ? await shortlistColumn(source) : []),
  ];
}

function sampleColumns({ inputNames, samples, sampleDetails }: ExportSource): Column[] {
  const details = sampleDetails ?? [];
  const sqlOf = (valueOf: (input: number) => string): string => {
    const values = new Map(inputNames.map((name, input) => [name, valueOf(input)]));
    const cases = [...values].map(([name, value]) => `WHEN ${quoted(name)} THEN ${value}`);
    return `CASE input ${cases.join(' ')} END`;
  };
  const textOf = (value: string | null = null): string => (value === null ? 'NULL' : quoted(value));
  const sample = sqlOf((input) => textOf(samples[input]));
  const group = sqlOf((input) => textOf(details[input]?.group));
  const control = sqlOf((input) => String(details[input]?.control ?? false));
  const columns = [text('sample', 'Sample', 'Probe', 18, sample)];
  if (details.some((one) => one.group !== null)) columns.push(text('group', 'Group', 'Gruppe', 16, group));
  if (details.some((one) => one.control))
    columns.push(flag('control', 'Control', 'Kontrolle', ['yes', 'no'], control));
  return columns;
}

/** Which sequences are on the shortlist, if any of the selected ones is; it comes last because it is no result. */
async function shortlistColumn({ store, selection, sort }: ExportSource): Promise<Column[]> {
  const listed = new Set(shortlistOf(store.folder));
  const rows = selection.rows?.filter((row) => listed.has(row)) ?? [...listed];
  const selected = Array.from(await store.selectedRows({ ...selection, rows }, sort));
  if (selected.length === 0) return [];
  const from: QueryTable = {
    name: 'shortlist',
    columns: [
      { name: 'row', type: 'INTEGER' },
      { name: 'shortlisted', type: 'BOOLEAN' },
    ],
    rows: selected.map((row) => [row, true]),
  };
  const sql = 'coalesce(shortlisted, false)';
  return [{ ...flag('shortlist', 'Shortlist', 'Engere Wahl', ['yes', 'NA'], sql), from }];
}

/**
 * Another tool's columns for the sequences: `genomad_call` and its own columns, as numbers if they contain
 * only numbers.
 */
function otherColumns(joined: JoinedTable, table: number, all: readonly JoinedTable[]): Column[] {
  const { title, columns } = joined.table;
  const plain =
    title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '') || 'other';
  const isTaken = all
    .slice(0, table)
    .some((other) => other.table.title.toLowerCase() === title.toLowerCase());
  const prefix = isTaken ? `${plain}_${table + 1}` : plain;
  const from: QueryTable = {
    name: `other_${table}`,
    columns: [
      { name: 'row', type: 'INTEGER' },
      ...['call', ...columns].map((_, i) => ({ name: `cell_${i}`, type: 'VARCHAR' as const })),
    ],
    rows: joined.named.map((row) => {
      const { isVirus, values } = joined.lineOf(row)!;
      return [
        ...[row, isVirus === null ? null : isVirus ? 'virus' : 'not_virus'],
        ...columns.map((_, i) => {
          const value = values[i] ?? '';
          return joined.isNumeric[i] === true
            ? (numberIn(value)?.toString() ?? null)
            : cellText(value) || null;
        }),
      ];
    }),
  };
  return ['call', ...columns].map((name, i) => {
    const heading = `${title}: ${name}`;
    return {
      ...text(`${prefix}_${name}`, heading, heading, 18, `${from.name}.cell_${i}`),
      ...{ from, type: joined.isNumeric[i - 1] === true ? 'number' : 'text' },
    };
  });
}

function text(name: string, en: string, de: string, width: number, sql: string): Column {
  return { name, type: 'text', heading: { en, de }, width, sql };
}

function flag(
  name: string,
  en: string,
  de: string,
  flagTexts: NonNullable<Column['flagTexts']>,
  sql: string,
): Column {
  return { name, type: 'flag', heading: { en, de }, width: 12, flagTexts, sql };
}
