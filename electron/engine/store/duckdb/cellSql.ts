import { quoted } from './quoted.ts';

/*
 * SQL expressions that write a value as the text of a cell, byte for byte as the functions of the same purpose in
 * electron/engine/results/cellText.ts and electron/engine/exports/table/ do. A missing value stays NULL.
 */

/**
 * A float32 from -1 to 1 as NumPy writes it. DuckDB writes its shortest text too, but for two kinds: the float32 nearest to 0.0001 is
 * below it, and of numbers exactly between two texts of eight digits DuckDB writes all nine.
 */
export function floatSql(value: string): string {
  const [plain, short] = [`(${value})::VARCHAR`, `format('{:.8g}', (${value})::DOUBLE)`];
  return (
    `CASE WHEN ${value} = 0.0001::FLOAT THEN '1e-04' ` +
    `WHEN strlen(${plain}) > 10 AND strlen(${short}) < strlen(${plain}) AND ${short}::FLOAT = ${value} THEN ${short} ELSE ${plain} END`
  );
}

/** A value as text tables have it, by the kind of its column (see SEQUENCE_COLUMNS in electron/contract/columns.ts). */
export function textSql({
  type,
  sql,
  flagTexts: [yes, no] = ['True', 'False'],
}: {
  type: string;
  sql: string;
  flagTexts?: readonly [yes: string, no: string];
}): string {
  if (type === 'flag') return `CASE WHEN ${sql} THEN ${quoted(yes)} ELSE ${quoted(no)} END`;
  return type === 'score' || type === 'share' ? floatSql(sql) : `${sql}::VARCHAR`;
}

const NUMBER = String.raw`[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?`;
const FORMULA = '[" ]*[=+@-]';
const SEPARATORS = String.raw`,;\t\r\n`;

const isNumber = (text: string): string => `regexp_full_match(${text}, ${quoted(NUMBER)})`;

/**
 * A spreadsheet would evaluate a cell that begins like a formula, so an apostrophe is put before it. A spreadsheet
 * of another country uses other separators, and takes quotes inside its cells literally, so the text after any
 * separator also counts as the beginning of a cell.
 */
export function harmlessSql(text: string): string {
  const cells = `regexp_extract_all(${text}, ${quoted(`[^${SEPARATORS}]+|[${SEPARATORS}]`)})`;
  const harmless =
    `array_to_string(list_transform(${cells}, lambda cell: ` +
    `CASE WHEN regexp_matches(cell, ${quoted(`^${FORMULA}`)}) AND NOT ${isNumber('cell')} THEN '''' || cell ELSE cell END), '')`;
  return `CASE WHEN regexp_matches(${text}, ${quoted(`(^|[${SEPARATORS}])${FORMULA}`)}) THEN ${harmless} ELSE ${text} END`;
}

/** Quotes a cell as in RFC 4180. */
export function csvSql(text: string, separator: ',' | ';'): string {
  const quotedCell = (of: string): string => `'"' || replace(${of}, '"', '""') || '"'`;
  const harmless = harmlessSql(text);
  return (
    `CASE WHEN NOT regexp_matches(${text}, ${quoted(`[${SEPARATORS}"]|^${FORMULA}`)}) THEN ${text} ` +
    `WHEN ${isNumber(text)} THEN CASE WHEN contains(${text}, ${quoted(separator)}) THEN ${quotedCell(text)} ELSE ${text} END ` +
    `WHEN regexp_matches(${text}, ${quoted(`[${SEPARATORS}"]`)}) THEN ${quotedCell(harmless)} ELSE ${harmless} END`
  );
}

const NOT_IN_XML = String.raw`[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]`;

/** `escaped` of a text for a workbook. */
export function xmlSql(text: string): string {
  const entities = [
    ['&', '&amp;'],
    ['<', '&lt;'],
    ['>', '&gt;'],
    ['"', '&quot;'],
  ];
  // RE2 cannot look ahead, so what stands between two underscores is judged by itself.
  const parts = `string_split(regexp_replace(${text}, ${quoted(NOT_IN_XML)}, chr(65533), 'g'), '_')`;
  const spelled =
    `array_to_string(list_transform(${parts}, lambda part, place: CASE WHEN place > 1 AND place < len(${parts}) ` +
    `AND regexp_full_match(part, '[xX][0-9a-fA-F]{4}') THEN 'x005F_' || part ELSE part END), '_')`;
  const whole = entities.reduce(
    (of, [from, to]) => `replace(${of}, ${quoted(from!)}, ${quoted(to!)})`,
    spelled,
  );
  return `CASE WHEN regexp_matches(${text}, ${quoted(`[&<>"_]|${NOT_IN_XML}`)}) THEN ${whole} ELSE ${text} END`;
}
