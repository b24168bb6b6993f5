import { exportFormat } from '../format.ts';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { textSql, xmlSql } from '../../store/duckdb/cellSql.ts';
import type { Column } from './columns.ts';
import { wordSql } from './delimited.ts';
import { tableLines } from './tableLines.ts';
import type { ExportSource } from '../exportSource.ts';
import type { SampleSummary } from '../../../contract/rpc/results.ts';
import { SAMPLE_COLUMNS, samplesFound } from '../samples.ts';
import { workbookNotes } from './workbookNotes.ts';
import type { WholeFile } from '../wholeFile.ts';

/** A sheet holds 1,048,576 rows; a round number makes it clear where the next one begins. */
const ROWS_PER_SHEET = 1_000_000;
/** A cell holds 32,767 characters. */
const LONGEST_TEXT = 32_000;

const SHEET_NAMES: Record<ExportLanguage, { sequences: string; samples: string; about: string }> = {
  en: { sequences: 'Sequences', samples: 'Samples', about: 'About' },
  de: { sequences: 'Sequenzen', samples: 'Proben', about: 'Erläuterung' },
};

/** Numbers of the cell formats in `STYLES`. */
const FORMAT = {
  text: 0,
  heading: 1,
  integer: 2,
  score: 3,
  share: 4,
  wrapped: 5,
  number: 0,
  flag: 0,
} as const;

/** An Office Open XML workbook: the sequences, with further sheets past a million rows, a sheet of the samples, and one
 * that explains the columns.
 * Rows go into the ZIP file as they come, so that it takes no more memory for a million than for one. */
export async function writeXlsx(
  source: ExportSource,
  columns: readonly Column[],
  file: WholeFile,
  rowsPerSheet = ROWS_PER_SHEET,
): Promise<void> {
  const names = SHEET_NAMES[source.language];
  const count = Math.max(1, Math.ceil(source.count / rowsPerSheet));
  const sheets = Array.from({ length: count }, (_, i) =>
    count === 1 ? names.sequences : `${names.sequences} ${i + 1}`,
  );
  const zip = new ZipFile();
  const addText = (path: string, text: string): void => zip.addBuffer(Buffer.from(XML + text), path);
  addText('[Content_Types].xml', contentTypes(sheets.length + 2));
  addText('_rels/.rels', RELATIONSHIPS);
  addText('xl/workbook.xml', workbook([...sheets, names.samples, names.about]));
  addText('xl/_rels/workbook.xml.rels', workbookRelationships(sheets.length + 2));
  addText('xl/styles.xml', STYLES);
  const { items: samples } = await samplesFound(source.store, source.run);
  addText(`xl/worksheets/sheet${sheets.length + 1}.xml`, samplesSheet(samples, source.language));
  addText(`xl/worksheets/sheet${sheets.length + 2}.xml`, notesSheet(workbookNotes(source, columns)));
  sheets.forEach((_, i) => {
    const offset = i * rowsPerSheet;
    const rows = Math.min(rowsPerSheet, source.count - offset);
    zip.addReadStreamLazy(`xl/worksheets/sheet${i + 1}.xml`, (ready) =>
      ready(null, Readable.from(sheetXml(source, columns, { rows, offset }), { objectMode: false })),
    );
  });
  zip.end();
  const failed = new Promise<never>((_, reject) => zip.once('error', reject));
  const copied = (async () => {
    for await (const block of zip.outputStream) await file.write(block);
  })();
  await Promise.race([copied, failed]);
}

async function* sheetXml(
  source: ExportSource,
  columns: readonly Column[],
  limit: { rows: number; offset: number },
): AsyncGenerator<string | Uint8Array> {
  const last = `${columnLetters(columns.length - 1)}${limit.rows + 1}`;
  yield (
    `<worksheet xmlns="${MAIN}"><dimension ref="A1:${last}"/><sheetViews><sheetView workbookViewId="0">` +
    '<pane xSplit="2" ySplit="1" topLeftCell="C2" activePane="bottomRight" state="frozen"/></sheetView></sheetViews><cols>' +
    columns
      .map(({ width }, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
      .join('') +
    `</cols><sheetData><row r="1">${columns
      .map(({ heading }, i) => textCell(i, 1, heading[source.language], FORMAT.heading))
      .join('')}</row>`
  );
  const rowSql = (of: readonly Column[]) =>
    `concat('<row r="', place + 1, '">', ${of.map((column, i) => cellSql(i, column, source.language)).join(', ')}, '</row>')`;
  for await (const lines of tableLines(source, columns, rowSql, { limit })) yield lines;
  yield `</sheetData><autoFilter ref="A1:${last}"/></worksheet>`;
}

/** A cell in SQL; NULL if it is empty. */
function cellSql(i: number, column: Column, language: ExportLanguage): string {
  const { type, sql, words } = column;
  const cell = (kind: string, value: string, end: string): string =>
    `'<c r="${columnLetters(i)}' || (place + 1) || '" s="${FORMAT[type]}"${kind}' || ${value} || '${end}</c>'`;
  if (words || type === 'text') {
    const text = words
      ? wordSql(column, language, escaped)
      : xmlSql(
          `CASE WHEN length(${sql}) > ${LONGEST_TEXT} THEN left(${sql}, ${LONGEST_TEXT}) || '…' ELSE ${sql} END`,
        );
    return cell(' t="inlineStr"><is><t xml:space="preserve">', `nullif(${text}, '')`, '</t></is>');
  }
  if (type === 'flag') return cell(' t="b"><v>', `${sql}::INTEGER`, '</v>');
  return cell('><v>', textSql(column), '</v>');
}

/** Literal text: in such a cell, text that begins like a formula is no formula. */
function textCell(i: number, row: number, value: string, format: number): string {
  const shown = value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  return `<c r="${columnLetters(i)}${row}" s="${format}" t="inlineStr"><is><t xml:space="preserve">${escaped(shown)}</t></is></c>`;
}

/** A cell of a value; none if it has none. */
function valueCell(i: number, row: number, value: string | number | null, format: number): string {
  if (value === null || value === '') return '';
  if (typeof value === 'string') return textCell(i, row, value, format);
  return `<c r="${columnLetters(i)}${row}" s="${format}"><v>${value}</v></c>`;
}

function sheetOf(
  widths: readonly (readonly [from: number, to: number, width: number])[],
  rows: readonly string[],
): string {
  const columns = widths.map(
    ([from, to, width]) => `<col min="${from}" max="${to}" width="${width}" customWidth="1"/>`,
  );
  const lines = rows.map((cells, i) => `<row r="${i + 1}">${cells}</row>`);
  return `<worksheet xmlns="${MAIN}"><cols>${columns.join('')}</cols><sheetData>${lines.join('')}</sheetData></worksheet>`;
}

/** Every sample of the run, whichever sequences were selected. */
function samplesSheet(samples: readonly SampleSummary[], language: ExportLanguage): string {
  const columns = Object.values(SAMPLE_COLUMNS);
  const head = columns.map(({ [language]: heading }, i) => textCell(i, 1, heading, FORMAT.heading));
  const rows = samples.map((summary, at) =>
    columns
      .map(({ kind, valueOf }, i) => valueCell(i, at + 2, valueOf(summary, language), FORMAT[kind]))
      .join(''),
  );
  const widths = [
    [1, 2, 24],
    [3, columns.length, 14],
  ] as const;
  return sheetOf(widths, [head.join(''), ...rows]);
}

function notesSheet(notes: readonly (readonly [string, string])[]): string {
  const rows = notes.map(
    ([label, note], i) =>
      textCell(0, i + 1, label, FORMAT.heading) + textCell(1, i + 1, note, FORMAT.wrapped),
  );
  return sheetOf(
    [
      [1, 1, 24],
      [2, 2, 100],
    ],
    rows,
  );
}

function columnLetters(i: number): string {
  return i < 26 ? String.fromCharCode(65 + i) : columnLetters(Math.floor(i / 26) - 1) + columnLetters(i % 26);
}

/** XML 1.0 does not allow most control characters, nor unpaired surrogates. */
const NOT_IN_XML =
  // eslint-disable-next-line no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * What a spreadsheet would read as a character escape; ISO/IEC 29500 writes characters that XML does not
 * allow like this.
 */
const LIKE_A_NUMBER = /_(?=x[\da-f]{4}_)/gi;

export function escaped(text: string): string {
  return text
    .replaceAll(NOT_IN_XML, '\ufffd')
    .replaceAll(LIKE_A_NUMBER, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const RELATIONSHIPS = `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

const STYLES =
  `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="0.0000"/><numFmt numFmtId="165" formatCode="0.0%"/></numFmts>` +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  `<cellXfs count="6">${[
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>',
    '<xf numFmtId="3" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
    '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>',
  ].join(
    '',
  )}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

function contentTypes(sheets: number): string {
  const overrides = Array.from(
    { length: sheets },
    (_, i) =>
      `<Override PartName="/xl/worksheets/sheet${i + 1}.xml" ContentType="${CONTENT}.worksheet+xml"/>`,
  );
  return (
    `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>${overrides.join('')}</Types>`
  );
}

function workbook(sheets: readonly string[]): string {
  const entries = sheets.map(
    (name, i) => `<sheet name="${escaped(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  );
  return `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${entries.join('')}</sheets></workbook>`;
}

function workbookRelationships(sheets: number): string {
  const entries = Array.from(
    { length: sheets },
    (_, i) =>
      `<Relationship Id="rId${i + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`,
  );
  return (
    `<Relationships xmlns="${PACKAGE}/relationships">${entries.join('')}` +
    `<Relationship Id="rId${sheets + 1}" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`
  );
}

export const xlsx = exportFormat(
  'xlsx',
  {
    en: [
      'Excel workbook (XLSX)',
      'With readable headings, a sheet of the samples and one that explains the columns; further sheets past a million rows',
    ],
    de: [
      'Excel-Arbeitsmappe (XLSX)',
      'Mit lesbaren Überschriften, einem Blatt der Proben und einem, das die Spalten erklärt; weitere Blätter ab einer Million Zeilen',
    ],
  },
  async ({ source, columns, file }) => {
    // The sheet that explains the columns names the model, once.
    const shown = (await columns()).filter(({ name }) => name !== 'model');
    await writeXlsx(source, shown, file);
  },
);
