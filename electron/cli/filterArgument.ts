import {
  COLUMN_LIMITS,
  columnName,
  sequenceColumn,
  sequenceSortSchema,
  type SequenceField,
  type SequenceSort,
} from '../contract/columns.ts';
import { CANDIDATES, CONSERVATIVE } from '../contract/evidence.ts';
import type { Agreement } from '../contract/otherTools.ts';
import { type AppFailure, usage } from '../contract/errors.ts';
import { sequenceFilterSchema } from '../contract/filter.ts';
import { type SequenceFilter } from '../contract/rpc/results.ts';
import {
  joinedTables,
  joinOtherTable,
  readOtherTable,
  samplesOf,
  selectionOf,
  markedRows,
  storedOtherTables,
  type RunStore,
} from '../engine/index.ts';

/** Names that a condition may use besides those of sequences. */
interface FilterNames {
  /** Paths of the inputs, and the sample of each. */
  inputs: readonly string[];
  samples: readonly string[];
  /** Titles of the tables of other tools. */
  others?: readonly string[];
}

export const FILTER_HELP =
  'virus, others, not_scored, failed, settled, unsettled (may change while the run goes on), candidates, conservative, shortlist (your own), repeat (DTR or ITR), other_code (hint to another genetic code), or conditions such as score>=0.9, score<0.99, length>=1000, length<=5000, chunks>=2, frames>=10, ' +
  'viral>=0.5 (share of the scored chunks), second>=0.9 (second-best chunk), reason=no_open_frame, evidence=strong,moderate, sample=NAME, file=NAME, name=TEXT; with a table of another tool agreement=both, only_ours, ' +
  'only_theirs, no_call or not_in_table (with all tables at once), or with one agreement=NAME:both; all of them must hold';

export const WITH_RULE =
  'With FILE,column=score,virus=">=0.9" a limit or, joined by |, words in a column say what is a virus; with FILE,virus=all every line is one.';

const CALLS = ['virus', 'others', 'not_scored', 'failed'] as const;
const CONDITION = /^(?<what>[a-z]+)(?<how><=|>=|=|<)(?<value>.+)$/;

export function filterOf(words: readonly string[], names: FilterNames): SequenceFilter {
  const filter: SequenceFilter = {};
  for (const word of words) {
    const call = CALLS.find((known) => known === word);
    if (word === 'all') continue;
    if (word === 'shortlist') filter.shortlisted = true;
    else if (word === 'settled' || word === 'unsettled') filter.settled = word === 'settled';
    else if (word === 'repeat') filter.terminalRepeat = true;
    else if (word === 'other_code') filter.otherCode = true;
    else if (word === 'candidates') Object.assign(filter, CANDIDATES);
    else if (word === 'conservative') Object.assign(filter, CONSERVATIVE);
    else if (call) filter.predictions = [...(filter.predictions ?? []), call];
    else Object.assign(filter, condition(word, names));
  }
  const checked = sequenceFilterSchema.safeParse(filter);
  if (!checked.success) throw misunderstood(words.join(' '));
  return checked.data;
}

function condition(word: string, { inputs, samples, others = [] }: FilterNames): SequenceFilter {
  const { what = '', how = '', value = '' } = CONDITION.exec(word)?.groups ?? {};
  const limit = COLUMN_LIMITS.find((one) => what === wordOf(one.key) && how === one.how);
  if (limit) return { [limit.field]: Number(value) };
  switch (`${what}${how}`) {
    case 'reason=':
      return { reasons: value.split(',') as NonNullable<SequenceFilter['reasons']> };
    case 'evidence=':
      return { evidence: value.split(',') as NonNullable<SequenceFilter['evidence']> };
    case 'name=':
      return { search: value };
    case 'sample=':
      return { inputs: numbersOf(value, samples, 'sample') };
    case 'file=':
      return { inputs: numbersOf(value, inputs.map(fileNameOf), 'file') };
    case 'agreement=':
      if (others.length === 0)
        throw usage('There is no table of another tool to agree with.', 'Name one by --with FILE.');
      return { other: agreementWith(value, others) };
    default:
      throw misunderstood(word);
  }
}

/** `both` asks all tables; `geNomad:both` the one of this name. */
function agreementWith(value: string, others: readonly string[]): NonNullable<SequenceFilter['other']> {
  const at = value.lastIndexOf(':');
  const agreement = value.slice(at + 1) as Agreement;
  if (at < 0) return { table: others.length === 1 ? 0 : null, agreement };
  const name = value.slice(0, at).toLowerCase();
  const [table, ...more] = others.flatMap((other, i) => (other.toLowerCase() === name ? [i] : []));
  if (table !== undefined && more.length === 0) return { table, agreement };
  throw usage(
    `${more.length > 0 ? 'Several tables have' : 'No table has'} the name "${value.slice(0, at)}".`,
    `There are ${others.join(', ')}.`,
  );
}

function numbersOf(value: string, names: readonly string[], what: string): number[] {
  const found = names.flatMap((name, input) => (name === value ? [input] : []));
  if (found.length > 0) return found;
  throw usage(`The run has no ${what} "${value}".`, `It has ${[...new Set(names)].join(', ')}.`);
}

const wordOf = (key: SequenceField): string => sequenceColumn(key).word ?? columnName(key);

const SORT_NAMES: Readonly<Record<string, SequenceSort['by']>> = Object.fromEntries(
  sequenceSortSchema.shape.by.options.map((key) => [wordOf(key), key]),
);
export const SORT_HELP = `${Object.keys(SORT_NAMES).join(', ')}; with a minus before it from the largest down`;

/** `-score` sorts by descending score. */
export function sortOf(word: string): SequenceSort {
  const by = SORT_NAMES[word.replace(/^-/, '')];
  if (by === undefined) throw usage(`"${word}" is no order.`, `Use ${SORT_HELP}.`);
  return sequenceSortSchema.parse({ by, descending: word.startsWith('-') });
}

function misunderstood(word: string): AppFailure {
  return usage(`The filter "${word}" is not understood.`, `Use ${FILTER_HELP}.`);
}

/** The last part of a path of this or another operating system. */
function fileNameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

/** The sequences that `--filter` selects, compared with the tables of other tools that `--with` names. */
export async function selectionAsked(
  store: RunStore,
  stored: Awaited<ReturnType<RunStore['loadRun']>>,
  flags: { filter: string[]; with: string[] },
) {
  const samples = samplesOf(stored);
  const others = await otherTables(store, flags.with);
  const filter = filterOf(flags.filter, {
    inputs: stored.inputs.map(({ path }) => path),
    samples,
    others: others.map(({ table }) => table.title),
  });
  const silent = others.filter(
    ({ table }, i) => table.rule === 'unknown' && [null, i].includes(filter.other?.table ?? null),
  );
  if (filter.other && /^(both|only_)/.test(filter.other.agreement) && silent.length > 0)
    throw usage(`${silent.map(({ table }) => table.title).join(', ')} makes no calls.`, WITH_RULE);
  return {
    samples,
    others,
    filter,
    selection: { ...selectionOf(filter, others), ...markedRows(store.folder, filter) },
  };
}

/** Reads `FILE`, or `FILE,column=score,virus=>=0.9` with the user's own rule; `FILE,virus=all` if every line is one. */
function readTableAsked(word: string) {
  const [, file, column = null, virus] = /^(.+?)(?:,column=([^,]+))?,virus=(.+)$/.exec(word) ?? [];
  if (file === undefined || virus === undefined) return readOtherTable(word);
  if (column === null && virus !== 'all')
    throw usage(`"${word}" does not say which column holds "${virus}".`, WITH_RULE);
  return readOtherTable(file, { named: { column, virus } });
}

/** The tables named on the command line, then those that are stored with the run. */
export async function otherTables(store: RunStore, files: readonly string[]) {
  const tables = [...(await Promise.all(files.map(readTableAsked))), ...storedOtherTables(store.folder)];
  return Promise.all(joinedTables(tables).map((table) => joinOtherTable(store, table)));
}
