import {
  columnName,
  columnsOf,
  sequenceColumn,
  type ColumnKey,
  type SequenceResult,
} from '../../../contract/columns.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { matesOf } from '../../../contract/samples.ts';
import { sequenceNotes } from '../../store/sequenceNotes.ts';
import type { SequenceSelection } from '../../store/duckdb/selection.ts';
import { cellText } from '../../results/cellText.ts';
import type { ExportSource } from '../exportSource.ts';
import { numberIn, type JoinedTable } from '../otherTools/joinOtherTable.ts';
import type { OtherLine } from '../otherTools/readOtherTable.ts';

export type CellValue = string | number | boolean | null;

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
  value: (sequence: SequenceResult, source: ExportSource) => CellValue;
  /** What stands in text tables where a flag is true, and where it is false. */
  flagTexts?: readonly [yes: string, no: string];
  /** The word in the reader's language, for spreadsheets. */
  word?: (sequence: SequenceResult, language: ExportLanguage) => string;
}

/** What an export says otherwise than the result itself. */
const OWN_VALUES: Partial<Record<ColumnKey, Column['value']>> = {
  input: ({ input }, { inputNames }) => inputNames[input] ?? null,
  model: (_, { modelLabel }) => modelLabel,
};

const headingOf = (key: ColumnKey) => ({ en: sequenceColumn(key).en[0], de: sequenceColumn(key).de[0] });

function ownColumn(key: ColumnKey): Column {
  const { kind, width = 12, words } = sequenceColumn(key);
  const heading = headingOf(key);
  return {
    ...{ name: columnName(key), type: kind, heading, width },
    value: OWN_VALUES[key] ?? (key === 'model' ? () => null : ({ [key]: value }) => value),
    ...(kind === 'flag' && { flagTexts: ['True', 'False'] as const }),
    // That a sequence is scored goes without saying.
    ...(words &&
      key !== 'model' && {
        word: ({ [key]: value }: SequenceResult, language: ExportLanguage) =>
          value === null || value === 'ok' ? '' : (words[String(value)]?.[language] ?? ''),
      }),
  };
}

/** The columns that were asked for and for which at least one of the selected sequences has a value. */
export async function usedColumns(source: ExportSource, selection: SequenceSelection): Promise<Column[]> {
  const { inputs, plan } = source.run;
  const isPaired = matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null);
  const filled = new Set<string>(await source.store.columnsWithValues(selection));
  const [name, ...more] = columnsOf('exports', {
    isPaired,
    isCalibrated: plan.trusted !== undefined,
    looksTwice: plan.secondLook !== undefined,
  })
    .filter((key) => {
      const { needs } = sequenceColumn(key);
      return needs === undefined || filled.has(needs);
    })
    .map(ownColumn);
  const own: Column[] = [
    { name: 'no', type: 'integer', heading: headingOf('row'), width: 12, value: ({ row }) => row + 1 },
    ...(name ? [name] : []),
    ...sampleColumns(source),
    ...more,
  ];
  return [
    ...own.filter((one) => source.showsColumn(one.name)),
    ...source.others.flatMap((joined, table) =>
      source.showsColumn(`other ${table}`) ? otherColumns(joined, table, source.others) : [],
    ),
    ...noteColumns(source).filter((one) => source.showsColumn(one.name)),
  ];
}

function sampleColumns({ samples, sampleDetails }: ExportSource): Column[] {
  const details = sampleDetails ?? [];
  return [
    text('sample', 'Sample', 'Probe', 18, ({ input }) => samples[input] ?? null),
    ...(details.some((one) => one.group !== null)
      ? [text('group', 'Group', 'Gruppe', 16, ({ input }) => details[input]?.group ?? null)]
      : []),
    ...(details.some((one) => one.control)
      ? [
          flag('control', 'Control', 'Kontrolle', ['yes', 'no'], ({ input }) =>
            Boolean(details[input]?.control),
          ),
        ]
      : []),
  ];
}

/** The user's notes on the selected sequences; they come last because they are no results. */
function noteColumns({ order, store }: ExportSource): Column[] {
  const written = new Map(sequenceNotes(store.folder).map((one) => [one.row, one]));
  if (written.size === 0) return [];
  const shortlisted = new Set<number>();
  const tags = new Map<number, string>();
  const notes = new Map<number, string>();
  for (const row of order) {
    const one = written.get(row);
    if (one?.shortlisted) shortlisted.add(row);
    if (one && one.tags.length > 0) tags.set(row, cellText(one.tags.join('; ')));
    if (one && one.note !== '') notes.set(row, cellText(one.note));
  }
  return [
    ...(shortlisted.size === 0
      ? []
      : [flag('shortlist', 'Shortlist', 'Engere Wahl', ['yes', 'NA'], ({ row }) => shortlisted.has(row))]),
    ...(tags.size === 0
      ? []
      : [text('tags', 'Tags', 'Schlagwörter', 20, ({ row }) => tags.get(row) ?? null)]),
    ...(notes.size === 0 ? [] : [text('note', 'Note', 'Notiz', 40, ({ row }) => notes.get(row) ?? null)]),
  ];
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
  const cell = (name: string, value: (line: OtherLine) => CellValue): Column =>
    text(`${prefix}_${name}`, `${title}: ${name}`, `${title}: ${name}`, 18, ({ row }) => {
      const line = joined.lineOf(row);
      return line && value(line);
    });
  return [
    cell('call', ({ isVirus }) => (isVirus === null ? null : isVirus ? 'virus' : 'not_virus')),
    ...columns.map((name, i): Column =>
      joined.isNumeric[i] === true
        ? { ...cell(name, ({ values }) => numberIn(values[i] ?? '')), type: 'number' }
        : cell(name, ({ values }) => cellText(values[i] ?? '') || null),
    ),
  ];
}

function text(name: string, en: string, de: string, width: number, value: Column['value']): Column {
  return { name, type: 'text', heading: { en, de }, width, value };
}

function flag(
  name: string,
  en: string,
  de: string,
  flagTexts: NonNullable<Column['flagTexts']>,
  value: (...of: Parameters<Column['value']>) => boolean,
): Column {
  return { name, type: 'flag', heading: { en, de }, width: 12, flagTexts, value };
}
