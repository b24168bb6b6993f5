import {
  COLUMN_LIMITS,
  columnName,
  type SequenceField,
  type SequenceSort,
} from '../../../contract/columns.ts';
import { evidenceSchema, reasonSchema } from '../../../contract/results.ts';
import type { SequenceFilter } from '../../../contract/rpc/results.ts';
import { quoted } from './quoted.ts';
import type { QueryTable } from './queryProcess.ts';

/** The sequences that a user wants to see; `rows` instead of a filter if they were picked one by one. */
export interface SequenceSelection {
  filter: SequenceFilter;
  rows?: readonly number[] | undefined;
  /** Sequences of which another tool says what the filter asks for; for `not_in_table`, those that it names. */
  theirs?: readonly number[] | undefined;
  /** The shortlist, if the filter asks for it. */
  marked?: readonly number[] | undefined;
}

const SHARE = 'n_chunks_viral::DOUBLE / nullif(n_chunks_scored, 0)';
const valueOf = (key: SequenceField) => (key === 'viralFraction' ? SHARE : columnName(key));

/** The condition of a selection on `sequences`, as SQL, with the tables that it needs for the rows that the selection names. */
export function conditionOf(
  { filter, rows, theirs, marked }: SequenceSelection,
  inputs: readonly string[],
): { condition: string; picked: QueryTable[] } {
  const picked: QueryTable[] = [];
  const among = (wanted: readonly number[] = []): string => {
    const name = `picked_${picked.length}`;
    picked.push({ name, columns: [{ name: 'row', type: 'INTEGER' }], rows: wanted.map((row) => [row]) });
    return `row IN (FROM ${name})`;
  };
  const oneOf = (column: string, wanted: readonly string[]): string =>
    wanted.length === 0 ? 'false' : `${column} IN (${wanted.map(quoted).join(', ')})`;
  const ofInputs = (numbers: readonly number[]): string =>
    oneOf(
      'input',
      numbers.flatMap((number) => inputs[number] ?? []),
    );
  const conditions = [
    ...(rows ? [among(rows)] : []),
    ...(filter.shortlisted ? [among(marked)] : []),
    ...(filter.input === undefined ? [] : [ofInputs([filter.input])]),
    ...(filter.inputs ? [ofInputs(filter.inputs)] : []),
    ...(filter.predictions ? [oneOf('prediction', filter.predictions)] : []),
    ...(filter.reasons ? [oneOf('reason', filter.reasons)] : []),
    ...(filter.evidence ? [oneOf('evidence', filter.evidence)] : []),
    ...(filter.settled === undefined ? [] : [filter.settled ? 'settled' : 'NOT settled']),
    ...COLUMN_LIMITS.flatMap(({ key, how, field }) =>
      filter[field] === undefined ? [] : [`${valueOf(key)} ${how} ${filter[field]}::DOUBLE`],
    ),
    ...(filter.terminalRepeat ? ['terminal_repeat IS NOT NULL'] : []),
    ...(filter.otherCode ? ['genetic_code_hint IS NOT NULL'] : []),
    ...(filter.search ? [headerHas(filter.search)] : []),
  ];
  if (filter.other) {
    const isVirus = "prediction = 'virus'";
    conditions.push(
      ...{
        both: () => [isVirus, among(theirs)],
        only_ours: () => [isVirus, among(theirs)],
        only_theirs: () => [`NOT ${isVirus}`, among(theirs)],
        no_call: () => [among(theirs)],
        not_in_table: () => [`NOT ${among(theirs)}`],
      }[filter.other.agreement](),
    );
  }
  return { condition: ['true', ...conditions.map((one) => `(${one})`)].join(' AND '), picked };
}

/** Upper and lower case count as the same. A text without letters is looked for in the headers as they are, which takes half the time. */
function headerHas(text: string): string {
  if (text.toLowerCase() === text.toUpperCase()) return `contains(header, ${quoted(text)})`;
  return `contains(lower(header), lower(${quoted(text)}))`;
}

/** The position in a list; null for values that are not in it. */
const placeIn = (names: readonly string[], column: string): string =>
  `list_position([${names.map(quoted).join(', ')}], ${column})`;

/** Orders from the most certain virus over doubtful sequences to the most certain other one. */
const RELIABILITY = `${placeIn(evidenceSchema.options, 'evidence')} * CASE prediction WHEN 'virus' THEN 1 ELSE -1 END`;

/** What a column is sorted by, if not by its own value. */
const SORTED_BY: Partial<Record<SequenceSort['by'], string>> = {
  evidence: RELIABILITY,
  reason: placeIn(reasonSchema.exclude(['ok']).options, 'reason'),
};

/** Sequences without a value come last in both directions; equal ones keep the order of the run. */
function termsOf({ by, descending }: SequenceSort, inputs: readonly string[]): [string, string][] {
  const direction = `${descending ? 'DESC' : 'ASC'} NULLS LAST`;
  if (by === 'row') return [['row', direction]];
  const key = by === 'input' ? placeIn(filesInOrder(inputs), 'input') : (SORTED_BY[by] ?? valueOf(by));
  const keys = by === 'evidence' ? [key, 'virus_score'] : [key];
  return [...keys.map((sql): [string, string] => [sql, direction]), ['row', 'ASC NULLS LAST']];
}

export const orderOf = (...sort: Parameters<typeof termsOf>): string =>
  String(termsOf(...sort).map((term) => term.join(' ')));

/** A value by which this order is that of bytes. */
export const sortKeyOf = (...sort: Parameters<typeof termsOf>): string =>
  `create_sort_key(${String(termsOf(...sort).map(([sql, direction]) => `${sql}, '${direction}'`))})`;

/**
 * The labels of the inputs by their file names; among equal names, the input that the run reads first comes
 * first.
 */
function filesInOrder(inputs: readonly string[]): string[] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const name = (label: string): string => label.split('/').at(-1) ?? '';
  return inputs.toSorted((a, b) => compare(name(a), name(b)));
}
