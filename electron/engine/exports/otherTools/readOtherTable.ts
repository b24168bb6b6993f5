import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { appError, AppFailure } from '../../../contract/errors.ts';
import type { OtherRule } from '../../../contract/otherTools.ts';

/** A sequence as another tool's table names it. */
export interface OtherLine {
  name: string;
  isVirus: boolean;
  /** In the order of the table's columns. */
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
  /** By which it is recognised; the first holds the names. */
  has: readonly [string, ...string[]];
  shown: readonly string[];
  rule: OtherRule;
  isVirus: (cell: (column: string) => string) => boolean;
}

const LEAST_SCORE = 0.5;

/** The first that fits counts. */
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

const MOST_BYTES = 2 ** 29;
const MOST_LINES = 5_000_000;
const MOST_COLUMNS = 1000;
/** Of a table that no tool here is known for. */
const SHOWN_COLUMNS = 4;
const LONGEST_CELL = 400;
const LONGEST_LINE = 2 ** 20;

/** Reads another tool's table, separated by tabs, commas or semicolons. Rejects with AppFailure where it is none. */
export async function readOtherTable(path: string, signal?: AbortSignal): Promise<ReadOtherTable> {
  const file = basename(path);
  try {
    if ((await stat(path)).size > MOST_BYTES) throw noTable(file, 'It has more than 512 MB.');
    return await readTable(path, file, signal);
  } catch (error) {
    if (error instanceof AppFailure || signal?.aborted === true) throw error;
    throw noTable(file, error instanceof Error ? error.message : String(error));
  }
}

async function readTable(path: string, file: string, signal?: AbortSignal): Promise<ReadOtherTable> {
  const rows = rowsOf(path, await separatorOf(path), signal);
  const head = await rows.next();
  const names = head.done === true ? [] : head.value.map((name) => name.trim());
  if (names.length === 0 || names.length > MOST_COLUMNS)
    throw noTable(file, 'It has no line of column names.');
  const { nameAt, isVirus, title, rule, columns } = layoutOf(names, file);
  const lines: OtherLine[] = [];
  for await (const row of rows) {
    const cell = (column: string): string => (row[names.indexOf(column)] ?? '').trim().slice(0, LONGEST_CELL);
    const name = (row[nameAt] ?? '').trim();
    if (name === '') continue;
    if (lines.length >= MOST_LINES) throw noTable(file, 'It has more than five million lines.');
    lines.push({ name, isVirus: isVirus(cell), values: columns.map(cell) });
  }
  if (lines.length === 0) throw noTable(file, 'It has no lines besides the names of its columns.');
  return { title, file, rule, columns: [...columns], lines };
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

async function separatorOf(path: string): Promise<'\t' | ',' | ';'> {
  const lines = createInterface({ input: bytesOf(path), crlfDelay: Infinity });
  try {
    for await (const line of lines) {
      if (line.startsWith('>') || line.includes('\0')) break;
      const found = (['\t', ';', ','] as const).find((separator) => line.includes(separator));
      // A list of names is a table of one column.
      return found ?? '\t';
    }
  } finally {
    lines.close();
  }
  throw noTable(basename(path), 'It begins like a file of another kind.');
}

function bytesOf(path: string): NodeJS.ReadableStream {
  const file = createReadStream(path);
  if (!path.toLowerCase().endsWith('.gz')) return file;
  const unpacked = createGunzip();
  file.on('error', (error) => unpacked.destroy(error));
  return file.pipe(unpacked);
}

async function* rowsOf(
  path: string,
  delimiter: string,
  signal?: AbortSignal,
): AsyncGenerator<string[], undefined> {
  const input = bytesOf(path);
  const parser = parse({
    delimiter,
    bom: true,
    // Tables of tools are not quoted; one of a spreadsheet is.
    quote: delimiter === '\t' ? null : '"',
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_LINE,
  });
  input.on('error', (error: Error) => parser.destroy(error));
  input.pipe(parser);
  for await (const row of parser as AsyncIterable<string[]>) {
    signal?.throwIfAborted();
    yield row;
  }
}

function noTable(file: string, detail: string): AppFailure {
  return new AppFailure(
    appError('usage', `${file} cannot be read as a table of sequences.`, {
      detail,
      nextStep:
        'Choose a table separated by tabs or commas whose first line names its columns and that has a column of sequence names.',
    }),
  );
}
