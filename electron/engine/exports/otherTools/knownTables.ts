import { type AppFailure, usage } from '../../../contract/errors.ts';
import type { CallRule, OtherRule } from '../../../contract/otherTools.ts';

type Cell = (column: string) => string;

/** What a table says of a line: virus or not; null if it says neither, or it is not understood. */
export type Call = boolean | null;

export interface TableLayout {
  title: string;
  /** The column of names. */
  names: string;
  shown: readonly string[];
  rule: OtherRule;
  named: CallRule | null;
  call: (cell: Cell) => Call;
}

interface KnownTable {
  title: string;
  names: string;
  /** Columns by which it is recognised, besides that of the names. */
  has: readonly string[];
  shown: readonly string[];
  rule: CallRule | 'largest';
  /** The ending of a name that marks a part of a sequence, such as a provirus. */
  part?: RegExp;
}

const EVERY_LINE: CallRule = { column: null, virus: 'all' };

/** geNomad's `|provirus_1_900`, and VirSorter2's `||full`. */
const PROVIRUS = /\|provirus_\d+_\d+$/;
const PIECE = /\|\|[\w.-]+$/;

/** The first match counts. */
const KNOWN: readonly KnownTable[] = [
  {
    title: 'geNomad',
    names: 'seq_name',
    has: ['virus_score', 'n_hallmarks', 'taxonomy'],
    shown: ['virus_score', 'taxonomy', 'topology', 'coordinates', 'n_hallmarks'],
    rule: EVERY_LINE,
    part: PROVIRUS,
  },
  {
    title: 'geNomad (classification)',
    names: 'seq_name',
    has: ['chromosome_score', 'plasmid_score', 'virus_score'],
    shown: ['virus_score'],
    rule: 'largest',
    part: PROVIRUS,
  },
  {
    title: 'geNomad (proviruses)',
    names: 'seq_name',
    has: ['source_seq', 'start', 'end', 'v_vs_c_score'],
    shown: ['start', 'end', 'v_vs_c_score', 'integrases'],
    rule: EVERY_LINE,
    part: PROVIRUS,
  },
  {
    title: 'CheckV',
    names: 'contig_id',
    has: ['checkv_quality'],
    shown: ['checkv_quality', 'completeness'],
    rule: { column: 'checkv_quality', virus: 'Complete|High-quality|Medium-quality|Low-quality' },
    part: PROVIRUS,
  },
  {
    title: 'VirSorter2',
    names: 'seqname',
    has: ['max_score', 'max_score_group'],
    shown: ['max_score', 'max_score_group'],
    rule: EVERY_LINE,
    part: PIECE,
  },
  {
    title: 'DeepVirFinder',
    names: 'name',
    has: ['len', 'score', 'pvalue'],
    shown: ['score', 'pvalue'],
    rule: { column: 'score', virus: '>=0.5' },
  },
  {
    title: 'VIBRANT',
    names: 'scaffold',
    has: ['type', 'Quality'],
    shown: ['type', 'Quality'],
    rule: EVERY_LINE,
    part: /_fragment_\d+$/,
  },
];

function largestIsVirus(cell: Cell): Call {
  const scores = ['virus_score', 'chromosome_score', 'plasmid_score'].map((one) => numberOf(cell(one)));
  const [virus, ...others] = scores;
  return scores.includes(null) ? null : others.every((other) => Number(virus) > Number(other));
}

/** Names of columns, in lower case, with _ for spaces. */
const NAME_COLUMNS = [
  'seq_name', 'seqname', 'contig_id', 'contig_name', 'contig', 'accession', 'sequence_id', 'sequence_name', 'sequence',
  'seqid', 'seq_id', 'scaffold', 'name', 'id', 'query', 'qseqid', 'header', 'read_id', 'read_name', 'read', 'genome', 'fragment',
]; // prettier-ignore
/** Those that say whether a sequence is one, so that yes and no, true and false, 1 and 0 are calls. */
const IS_VIRUS = /^((is_?)?(virus|viral|phage)|(virus|viral|phage)_call|prediction|pred|call)$/;
const CALL_COLUMNS = ['prediction', 'pred', 'call', 'classification', 'class'];
const VIRUS_WORDS = /^(virus|viral|viruses|phage|prophage|provirus)$/i;
const OTHER_WORDS =
  /^(non?[-_ ]?(virus|viral|phage)|not[-_ ]?(a[-_ ])?(virus|viral|phage)|bacteri(a|al|um)|archae(a|al|on)|prokaryot(e|ic)|eukaryot(e|a|ic)|host|cellular|chromosom(e|al)|plasmid|organism|others?)$/i;
const YES = /^(1|true|yes|y|t)$/i;
const NO = /^(0|false|no|n|f)$/i;

const plain = (column: string): string =>
  column
    .toLowerCase()
    .replace(/^#/, '')
    .replaceAll(/[ .-]+/g, '_');

function callByWord(column: string, word: string): Call {
  if (VIRUS_WORDS.test(word)) return true;
  if (OTHER_WORDS.test(word)) return false;
  if (!IS_VIRUS.test(plain(column))) return null;
  return YES.test(word) ? true : NO.test(word) ? false : null;
}

/** For a table of no known tool. */
const SHOWN_COLUMNS = 8;

/** The layout of a table with these columns; null if none of them can be that of the names. */
export function layoutOf(columns: readonly string[], file: string): TableLayout | null {
  const known = KNOWN.find(({ names, has }) => [names, ...has].every((name) => columns.includes(name)));
  if (known) {
    const { title, names, rule } = known;
    const shown = known.shown.filter((name) => columns.includes(name));
    return rule === 'largest'
      ? { title, names, shown, rule, named: null, call: largestIsVirus }
      : { title, names, shown, ...ruled(rule) };
  }
  const words = columns.map(plain);
  const nameAt = NAME_COLUMNS.map((name) => words.indexOf(name)).find((at) => at >= 0);
  if (nameAt === undefined) return null;
  const names = columns[nameAt]!;
  const rest = columns.filter((name, at) => at !== nameAt && name !== '');
  const call =
    CALL_COLUMNS.map((name) => rest.find((column) => plain(column) === name)).find(
      (one) => one !== undefined,
    ) ?? rest.find((column) => IS_VIRUS.test(plain(column)));
  return {
    title: file,
    names,
    rule: call === undefined ? 'unknown' : 'call',
    named: null,
    shown: [...new Set([...(call === undefined ? [] : [call]), ...rest])].slice(0, SHOWN_COLUMNS),
    call: (cell) => (call === undefined ? null : callByWord(call, cell(call))),
  };
}

/** The endings of parts that no other name has, for tables of no known tool. */
const CERTAIN_PARTS = [PROVIRUS, PIECE];

export interface NameMatch {
  name: string;
  /** How sure it is: 0 if the table means this sequence, more for each way to guess. */
  guess: number;
  /** The only sequence of this name that is meant, if the name says it. */
  row?: number;
}

/** The names of sequences that a line may mean, the surest first. */
export function namesMeant(title: string, written: string): NameMatch[] {
  const { part } = KNOWN.find((known) => known.title === title) ?? {};
  const [word = ''] = written.split(/\s/, 1);
  const without = (ending: RegExp | undefined) => (ending?.test(word) ? [word.replace(ending, '')] : []);
  const guesses = [[written, ...without(part)], [word], CERTAIN_PARTS.flatMap(without)];
  const seen = new Set(['']);
  const meant = guesses.flatMap((names, guess) =>
    names.flatMap((name) => {
      if (seen.has(name)) return [];
      seen.add(name);
      return [{ name, guess }];
    }),
  );
  return [...meant, ...meant.flatMap(({ name }) => exportedAs(name, guesses.length) ?? [])];
}

/** The sequence to which an export with unique names has given this name: `row12_contig_7`. */
function exportedAs(written: string, guess: number): NameMatch | null {
  const [, no, name] = /^row(\d+)_(\S+)/.exec(written) ?? [];
  return no === undefined || name === undefined ? null : { name, guess, row: Number(no) - 1 };
}

const LIMIT = /^(>=|<=|>|<)\s*(\S+)$/;

/**
 * Calls by a rule: a limit such as `>=0.9`, or words joined by `|` that mean virus. Rejects with AppFailure
 * what is neither.
 */
export function ruled(named: CallRule): Pick<TableLayout, 'rule' | 'named' | 'call'> {
  const { column, virus } = named;
  if (column === null) return { rule: 'listed', named, call: () => true };
  const [, how, text = ''] = LIMIT.exec(virus.trim()) ?? [];
  if (how === undefined) {
    const words = virus.split('|').flatMap((word) => word.trim().toLowerCase() || []);
    if (words.length === 0) throw noRule(virus);
    const call = (cell: string) => (NO_VALUE.test(cell) ? null : words.includes(cell.toLowerCase()));
    return { rule: 'named', named, call: (cell) => call(cell(column)) };
  }
  const limit = numberOf(text);
  if (limit === null) throw noRule(virus);
  const call = (value: number | null) => {
    if (value === null) return null;
    return value === limit ? how.endsWith('=') : how.startsWith('>') === value > limit;
  };
  return { rule: 'named', named, call: (cell) => call(numberOf(cell(column))) };
}

const noRule = (virus: string): AppFailure =>
  usage(`"${virus}" is no rule.`, 'Give a limit such as >=0.9, or the words that mean virus, joined by |.');

export const NO_VALUE = /^(na|nan)?$/i;

/** Also of a number as an exact rule needs it: no value is not 0. */
function numberOf(text: string): number | null {
  const number = NO_VALUE.test(text) ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}
