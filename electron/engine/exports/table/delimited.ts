import { exportFormat } from '../format.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import { float32Text } from '../../results/cellText.ts';
import type { CellValue, Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';
import type { WholeFile } from '../wholeFile.ts';

/** A byte-order mark, by which spreadsheets recognise UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
const NOT_AVAILABLE = 'NA';

/** Tab-separated, with NA for missing values; numbers as in sequences.tsv. */
async function writeTsv(source: ExportSource, columns: readonly Column[], file: WholeFile): Promise<void> {
  const line = (cells: readonly string[]): string => `${cells.join('\t')}\n`;
  await file.write(line(columns.map(({ name }) => name)));
  for await (const page of source.pages()) {
    const lines = page.map((sequence) =>
      line(columns.map((column) => cellText(column, column.value(sequence, source)))),
    );
    await file.write(lines.join(''));
  }
}

/** The separators that a spreadsheet expects in each country. */
const SEPARATORS: Record<ExportLanguage, { cell: ',' | ';'; decimal: '.' | ',' }> = {
  en: { cell: ',', decimal: '.' },
  de: { cell: ';', decimal: ',' },
};

async function writeCsv(source: ExportSource, columns: readonly Column[], file: WholeFile): Promise<void> {
  const { cell, decimal } = SEPARATORS[source.language];
  const line = (cells: readonly string[]): string =>
    `${cells.map((text) => csvCell(text, cell)).join(cell)}\r\n`;
  await file.write(BYTE_ORDER_MARK + line(columns.map(({ name }) => name)));
  for await (const page of source.pages()) {
    const lines = page.map((sequence) =>
      line(columns.map((column) => localText(column, column.value(sequence, source), decimal))),
    );
    await file.write(lines.join(''));
  }
}

/** Rows for a spreadsheet to paste: as in the CSV, with the headings and words of the workbook, and nothing for missing values. */
export async function copiedText(source: ExportSource, columns: readonly Column[]): Promise<string> {
  const { language } = source;
  const lines = [columns.map(({ heading }) => heading[language])];
  for await (const sequence of source.sequences())
    lines.push(
      columns.map((column) => {
        const value = column.value(sequence, source);
        if (column.word) return column.word(sequence, language);
        return value === null ? '' : localText(column, value, SEPARATORS[language].decimal);
      }),
    );
  return lines.map((cells) => `${cells.map(harmless).join('\t')}\n`).join('');
}

function localText(column: Column, value: CellValue, decimal: ',' | '.'): string {
  const text = cellText(column, value);
  return column.type === 'text' || column.type === 'flag' ? text : text.replace('.', decimal);
}

function cellText({ type, flagTexts }: Column, value: CellValue): string {
  if (value === null) return NOT_AVAILABLE;
  if (flagTexts) return flagTexts[value === true ? 0 : 1];
  return typeof value === 'number' && (type === 'score' || type === 'share')
    ? float32Text(value)
    : String(value);
}

/** Quotes a cell as in RFC 4180. */
export function csvCell(text: string, separator: ',' | ';' = ','): string {
  if (isNumber(text)) return text.includes(separator) ? `"${text}"` : text;
  const cell = harmless(text);
  return /[,;\t"\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * A spreadsheet would evaluate a cell that begins like a formula, so an apostrophe is put before it. A spreadsheet
 * of another country uses other separators, and takes quotes inside its cells literally, so the text after any
 * separator also counts as the beginning of a cell.
 */
function harmless(text: string): string {
  return text.replaceAll(
    /(^|[,;\t\r\n])([" ]*[=+\-@][^,;\t\r\n]*)/g,
    (found, before: string, cell: string) => (isNumber(cell) ? found : `${before}'${cell}`),
  );
}

function isNumber(text: string): boolean {
  return /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i.test(text);
}

export const tsv = exportFormat(
  'tsv',
  'tables',
  {
    en: ['Tab-separated table (TSV)', 'For R, Python and other tools'],
    de: ['Tabelle mit Tabulatoren (TSV)', 'Für R, Python und andere Werkzeuge'],
  },
  async ({ source, columns, file }) => writeTsv(source, await columns(), file),
);

export const csv = exportFormat(
  'csv',
  'tables',
  {
    en: ['Table for spreadsheets (CSV)', 'Comma-separated; names that look like formulas are made harmless'],
    de: [
      'Tabelle für Tabellenprogramme (CSV)',
      'Mit Semikolon getrennt und mit Dezimalkomma, wie es Excel auf Deutsch erwartet; Namen, die wie Formeln aussehen, werden entschärft',
    ],
  },
  async ({ source, columns, file }) => writeCsv(source, await columns(), file),
);

/** One JSON object: facts about the run, and the sequences, one per line; null for missing values. */
async function writeJson(source: ExportSource, columns: readonly Column[], file: WholeFile): Promise<void> {
  const { description, plan, state } = source.run;
  const run = {
    id: description.runId,
    name: description.name,
    model: plan.model.name,
    notice: plan.model.notice,
    ...(state.phase === 'done' ? {} : { provisional: true }),
    precision: plan.precision,
    chunk_length: plan.chunkLength,
    ...(plan.secondLook && { second_chunk_length: plan.secondLook.chunkLength }),
  };
  await file.write(`{"run":${JSON.stringify(run)},\n"sequences":[`);
  let between = '\n';
  for await (const page of source.pages()) {
    const lines = page.map((sequence) => {
      const fields = columns.map(
        (column) => `${JSON.stringify(column.name)}:${jsonValue(column, column.value(sequence, source))}`,
      );
      const line = `${between}{${fields.join(',')}}`;
      between = ',\n';
      return line;
    });
    await file.write(lines.join(''));
  }
  await file.write('\n]}\n');
}

/** Scores with the digits of a float32, as in the other tables; another tool's values as it wrote them. */
function jsonValue({ type }: Column, value: CellValue): string {
  return typeof value === 'number' && (type === 'score' || type === 'share')
    ? float32Text(value)
    : JSON.stringify(value);
}

export const json = exportFormat(
  'json',
  'tables',
  {
    en: ['JSON', 'One object per sequence, with the facts of the run'],
    de: ['JSON', 'Ein Objekt je Sequenz, mit den Angaben zum Lauf'],
  },
  async ({ source, columns, file }) => writeJson(source, await columns(), file),
);
