import { csvSql, textSql } from '../../store/duckdb/cellSql.ts';
import { quoted } from '../../store/duckdb/quoted.ts';
import { exportFormat } from '../format.ts';
import type { ExportLanguage } from '../../../contract/exports.ts';
import type { Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';
import { writeTable } from './tableLines.ts';
import type { WholeFile } from '../wholeFile.ts';

/** A byte-order mark, by which spreadsheets recognise UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** The word for a value, as a cell spells it; NULL if it has none. */
export function wordSql(
  { sql, words = {} }: Column,
  language: ExportLanguage,
  spelled = (word: string): string => word,
): string {
  const cases = Object.entries(words).map(
    ([value, { [language]: word }]) => `WHEN ${quoted(value)} THEN ${quoted(spelled(word))}`,
  );
  return `CASE ${sql}::VARCHAR ${cases.join(' ')} END`;
}

const joined = (cells: readonly string[], separator: string, missing: string): string =>
  `concat_ws(${separator}, ${cells.map((cell) => `coalesce(${cell}, ${quoted(missing)})`).join(', ')})`;

/** Tab-separated, with NA for missing values; numbers as in sequences.tsv. */
export async function writeTsv(
  source: ExportSource,
  columns: readonly Column[],
  file: WholeFile,
): Promise<void> {
  const head = quoted(columns.map(({ name }) => name).join('\t'));
  await writeTable(source, columns, file, (of) => joined(of.map(textSql), 'chr(9)', 'NA'), { head });
}

/** The separators that a spreadsheet expects in each country. */
const SEPARATORS: Record<ExportLanguage, { cell: ',' | ';'; decimal: '.' | ',' }> = {
  en: { cell: ',', decimal: '.' },
  de: { cell: ';', decimal: ',' },
};

async function writeCsv(source: ExportSource, columns: readonly Column[], file: WholeFile): Promise<void> {
  const { cell } = SEPARATORS[source.language];
  const line = (cells: readonly string[]) => `${joined(cells, quoted(cell), 'NA')} || chr(13)`;
  const lineOf = (of: readonly Column[]) =>
    line(of.map((one) => (one.type === 'text' ? csvSql(one.sql, cell) : localSql(one, source.language))));
  const head = line(columns.map(({ name }) => csvSql(quoted(name), cell)));
  await writeTable(source, columns, file, lineOf, { head: `${quoted(BYTE_ORDER_MARK)} || ${head}` });
}

/** A flag, or a number with the decimal sign of the country. */
function localSql(column: Column, language: ExportLanguage): string {
  const { decimal } = SEPARATORS[language];
  return column.type === 'flag' || decimal === '.'
    ? textSql(column)
    : `replace(${textSql(column)}, '.', ',')`;
}

export const tsv = exportFormat(
  'tsv',
  {
    en: ['Tab-separated table (TSV)', 'For R, Python and other tools'],
    de: ['Tabelle mit Tabulatoren (TSV)', 'Für R, Python und andere Werkzeuge'],
  },
  async ({ source, columns, file }) => writeTsv(source, await columns(), file),
);

export const csv = exportFormat(
  'csv',
  {
    en: ['Table for spreadsheets (CSV)', 'Comma-separated; names that look like formulas are made harmless'],
    de: [
      'Tabelle für Tabellenprogramme (CSV)',
      'Mit Semikolon getrennt und mit Dezimalkomma, wie es Excel auf Deutsch erwartet; Namen, die wie Formeln aussehen, werden entschärft',
    ],
  },
  async ({ source, columns, file }) => writeCsv(source, await columns(), file),
);
