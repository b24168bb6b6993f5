import { basename } from 'node:path';
import { type AppFailure, usage } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { OtherRule } from '../../../contract/otherTools.ts';
import { isOriginalHead } from '../compare/originalResults.ts';
import { noTable, tableRows } from '../../inputs/tableRows.ts';

/** A sequence as another tool's table names it. */
export interface OtherLine {
  name: string;
  isVirus: boolean;
  /** Values in the order of the table's columns. */
  values: string[];
}

export interface ReadOtherTable {
  title: string;
  file: string;
  rule: OtherRule;
  columns: string[];
  lines: OtherLine[];
}

interface KnownTable {
  title: string;
  /** Columns by which it is recognised; the first holds the names. */
  has: readonly [string, ...string[]];
  shown: readonly string[];
  rule: OtherRule;
  isVirus: (cell: (column: string) => string) => boolean;
}

const LEAST_SCORE = 0.5;

/** The first match counts. */
const KNOWN: readonly KnownTable[] = [
  {
    title: 'geNomad',
    has: ['seq_name', 'virus_score', 'n_hallmarks', 'taxonomy'],
    shown: ['virus_score', 'taxonomy'],
    rule: 'listed',
    isVirus: () => true,
  },
  {
    title: 'geNomad',
    has: ['seq_name', 'chromosome_score', 'plasmid_score', 'virus_score'],
    shown: ['virus_score'],
    rule: 'largest',
    isVirus: (cell) =>
      Number(cell('virus_score')) > Number(cell('chromosome_score')) &&
      Number(cell('virus_score')) > Number(cell('plasmid_score')),
  },
  {
    title: 'geNomad (plasmids)',
    has: ['seq_name', 'plasmid_score'],
    shown: ['plasmid_score'],
    rule: 'none',
    isVirus: () => false,
  },
  {
    title: 'CheckV',
    has: ['contig_id', 'checkv_quality'],
    shown: ['checkv_quality', 'completeness'],
    rule: 'quality',
    isVirus: (cell) => !/^(not-determined|na|)$/i.test(cell('checkv_quality')),
  },
  {
    title: 'VirSorter2',
    has: ['seqname', 'max_score', 'max_score_group'],
    shown: ['max_score', 'max_score_group'],
    rule: 'listed',
    isVirus: () => true,
  },
  {
    title: 'DeepVirFinder',
    has: ['name', 'len', 'score', 'pvalue'],
    shown: ['score', 'pvalue'],
    rule: 'score',
    isVirus: (cell) => Number(cell('score')) >= LEAST_SCORE,
  },
];

const NAME_COLUMNS = [
  'seq_name', 'seqname', 'contig_id', 'contig_name', 'contig', 'accession', 'sequence_id', 'sequence_name', 'sequence',
  'seqid', 'scaffold', 'name', 'id', 'query', 'qseqid', 'header', 'read_id', 'read',
]; // prettier-ignore
const CALL_COLUMNS = ['prediction', 'pred', 'call', 'classification', 'class'];
const VIRUS_WORDS = /^(virus|viral|viruses|phage|prophage|provirus)$/i;

const MOST_COLUMNS = 1000;
/** For a table of no known tool. */
const SHOWN_COLUMNS = 4;
const LONGEST_CELL = 400;
const LONGEST_NAME = 1000;

interface ReadingOptions {
  signal?: AbortSignal | undefined;
  /** The largest size of the result as JSON, within a few bytes per line. */
  mostBytes?: number | undefined;
}

/**
 * Reads another tool's table, separated by tabs, commas or semicolons. Rejects with AppFailure if the file is
 * no such table.
 */
export async function readOtherTable(
  path: string,
  { signal, mostBytes = Infinity }: ReadingOptions = {},
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
  const { nameAt, isVirus, title, rule, columns } = layoutOf(names, file);
  const lines: OtherLine[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const cell = (column: string): string => beginningOf(row[names.indexOf(column)] ?? '', LONGEST_CELL);
    const name = beginningOf(row[nameAt] ?? '', LONGEST_NAME);
    if (name === '') continue;
    const line = { name, isVirus: isVirus(cell), values: columns.map(cell) };
    bytes += bytesOfLine(line);
    if (bytes > mostBytes) throw tablesTooLarge();
    lines.push(line);
  }
  if (lines.length === 0) throw noTable(file, 'It has no lines besides the names of its columns.');
  return { title, file, rule, columns: [...columns], lines };
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

interface Layout extends Pick<KnownTable, 'title' | 'rule' | 'isVirus'> {
  nameAt: number;
  columns: readonly string[];
}

function layoutOf(names: readonly string[], file: string): Layout {
  const known = KNOWN.find(({ has }) => has.every((name) => names.includes(name)));
  if (known) {
    const columns = known.shown.filter((name) => names.includes(name));
    return { ...known, nameAt: names.indexOf(known.has[0]), columns };
  }
  const lower = names.map((name) => name.toLowerCase());
  const named = NAME_COLUMNS.map((name) => lower.indexOf(name)).find((at) => at >= 0);
  const nameAt = named ?? 0;
  const callAt = CALL_COLUMNS.map((name) => lower.indexOf(name)).find((at) => at >= 0 && at !== nameAt);
  const call = callAt === undefined ? undefined : names[callAt];
  const others = names.filter((name, at) => at !== nameAt && name !== '' && name !== call);
  return {
    title: file,
    rule: call === undefined ? 'listed' : 'call',
    nameAt,
    columns: [...(call === undefined ? [] : [call]), ...others].slice(0, SHOWN_COLUMNS),
    isVirus: (cell) => call === undefined || VIRUS_WORDS.test(cell(call)),
  };
}
