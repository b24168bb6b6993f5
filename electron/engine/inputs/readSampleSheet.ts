import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { AppFailure, ok, type Result, failWith } from '../../contract/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import { message, type Message } from '../../contract/messages.ts';
import type { SheetRow } from '../../contract/samples.ts';
import { tableRows } from './tableRows.ts';

const MOST_BYTES = 8 * 2 ** 20;
/** A small compressed file can unpack to any size. */
const MOST_UNPACKED_BYTES = 64 * 2 ** 20;

/** The names that each column may have in the first line, ignoring case. */
const COLUMNS = {
  file: ['file', 'datei'],
  sample: ['sample', 'probe'],
  group: ['group', 'gruppe'],
  note: ['note', 'notiz'],
  control: ['control', 'kontrolle'],
} as const;
type Column = keyof typeof COLUMNS;
const YES = new Set(['yes', 'true', '1', 'x', 'ja']);
const NO = new Set(['', 'no', 'false', '0', 'nein']);

/**
 * Whether the first line of a table names files and samples, so that the file is a sample sheet and not an
 * input.
 */
export async function isSampleSheet(path: string): Promise<boolean> {
  try {
    const first = (await cellsOf(path, 1))[0]?.map(columnOf) ?? [];
    return first.includes('file') && first.includes('sample');
  } catch {
    return false;
  }
}

/**
 * Reads the rows of a sample sheet: CSV, TSV or XLSX with the columns file, sample and, optionally, group,
 * note and control.
 */
export async function readSampleSheet(path: string): Promise<Result<SheetRow[]>> {
  const name = basename(path);
  const fault = (cause: Message) => failWith('sample_sheet', cause, { nextStep: message('sheet.next') });
  let cells: string[][];
  try {
    cells = await cellsOf(path, LIMITS.inputs + 1);
  } catch (reason) {
    const detail =
      reason instanceof AppFailure ? (reason.error.detail ?? reason.error.cause) : String(reason);
    return fault(message('sheet.unreadable', { name, detail }));
  }
  const [head = [], ...lines] = cells;
  const columns = head.map(columnOf);
  for (const [index, column] of columns.entries()) {
    const title = head[index] ?? '';
    if (column === undefined && title !== '') return fault(message('sheet.column_unknown', { name, title }));
    if (column !== undefined && columns.indexOf(column) !== index)
      return fault(message('sheet.column_twice', { name, title }));
  }
  for (const column of ['file', 'sample'] as const)
    if (!columns.includes(column)) return fault(message('sheet.column_missing', { name, column }));
  const rows: SheetRow[] = [];
  const byFile = new Map<string, number>();
  const bySample = new Map<string, { row: SheetRow; line: number }>();
  for (const [index, values] of lines.entries()) {
    const line = index + 2;
    if (values.every((value) => value === '')) continue;
    const cell = (column: Column) => values[columns.indexOf(column)] ?? '';
    for (const column of ['file', 'sample'] as const)
      if (cell(column) === '') return fault(message('sheet.cell_empty', { name, line, column }));
    const control = cell('control').toLowerCase();
    if (!YES.has(control) && !NO.has(control))
      return fault(message('sheet.control', { name, line, value: cell('control') }));
    if (cell('sample').length > LIMITS.word || cell('group').length > LIMITS.word)
      return fault(message('sheet.too_long', { name, line, most: LIMITS.word }));
    const row: SheetRow = {
      file: cell('file').slice(0, LIMITS.path),
      sample: cell('sample'),
      group: cell('group') || null,
      note: cell('note').slice(0, LIMITS.note) || null,
      control: YES.has(control),
    };
    const before = byFile.get(row.file);
    if (before !== undefined)
      return fault(message('sheet.file_twice', { name, line, file: row.file, before }));
    const same = bySample.get(row.sample);
    if (same && (same.row.group !== row.group || same.row.control !== row.control))
      return fault(message('sheet.sample_differs', { name, line, sample: row.sample, before: same.line }));
    byFile.set(row.file, line);
    if (!same) bySample.set(row.sample, { row, line });
    rows.push(row);
  }
  return rows.length === 0 ? fault(message('sheet.no_lines', { name })) : ok(rows);
}

function columnOf(title: string): Column | undefined {
  const wanted = title.toLowerCase();
  return (Object.keys(COLUMNS) as Column[]).find((column) =>
    (COLUMNS[column] as readonly string[]).includes(wanted),
  );
}

/** The first lines of a table, with blanks around the cells removed. */
async function cellsOf(path: string, most: number): Promise<string[][]> {
  const rows: string[][] = [];
  if (path.toLowerCase().endsWith('.xlsx')) {
    const { readSheet } = await import('read-excel-file/universal');
    for (const row of await readSheet(await workbook(path)))
      rows.push(row.map((cell) => (cell === null ? '' : String(cell).trim())));
    if (rows.length > LIMITS.inputs + 1) throw new Error(`It has more than ${LIMITS.inputs} lines.`);
    return rows.slice(0, most);
  }
  for await (const row of tableRows(path)) {
    if (rows.length > LIMITS.inputs) throw new Error(`It has more than ${LIMITS.inputs} lines.`);
    rows.push(row.map((cell) => cell.trim()));
    if (rows.length === most && most === 1) break;
  }
  return rows;
}

/**
 * Reads a workbook, and makes sure that it unpacks to no more than it declares and than a list of samples can
 * need.
 */
async function workbook(path: string): Promise<ArrayBuffer> {
  const handle = await open(path, 'r');
  try {
    const info = await handle.stat();
    if (!info.isFile() || info.size > MOST_BYTES) throw new Error('It has more than 8 MB.');
    const bytes = new Uint8Array(info.size);
    await handle.read(bytes, 0, info.size, 0);
    let unpacked = 0;
    (await import('fflate')).unzipSync(bytes, {
      filter: ({ originalSize }) => {
        unpacked += originalSize;
        return false;
      },
    });
    if (unpacked > MOST_UNPACKED_BYTES) throw new Error('Unpacked, it has more than 64 MB.');
    return bytes.buffer;
  } finally {
    await handle.close();
  }
}
