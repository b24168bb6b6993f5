import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { escaped } from '../../exports/table/xlsx.ts';
import { float32Text } from '../../results/cellText.ts';
import { csvSql, floatSql, harmlessSql, xmlSql } from './cellSql.ts';
import { openDuckDb, type DuckDb } from './duckdb.ts';

let duck: DuckDb;
beforeAll(async () => {
  duck = await openDuckDb({ threads: 1 });
});
afterAll(() => duck.close());

async function written(type: 'VARCHAR' | 'FLOAT', values: readonly (string | number)[], sql: string) {
  await duck.run(`CREATE OR REPLACE TABLE given (place INTEGER, value ${type})`);
  const appender = await duck.connection.createAppender('given');
  for (const [at, value] of values.entries()) {
    appender.appendInteger(at);
    if (typeof value === 'string') appender.appendVarchar(value);
    else appender.appendFloat(value);
    appender.endRow();
  }
  appender.closeSync();
  return (await duck.rows<{ text: string }>(`SELECT ${sql} AS text FROM given ORDER BY place`)).map(
    ({ text }) => text,
  );
}

it('writes every kind of score as the tables do', async () => {
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);
  const ofBits = (pattern: number): number => {
    bits[0] = pattern;
    return float[0]!;
  };
  const around = Array.from({ length: 150 }, (_, k) => 2 ** -k).flatMap((power) => {
    float[0] = power;
    const [own] = bits as unknown as [number];
    return [-2, -1, 0, 1, 2].map((step) => ofBits(Math.max(0, own + step)));
  });
  const ties = Array.from({ length: 2 ** 14 }, (_, n) => n / 2 ** 14);
  const shares = Array.from({ length: 200 }, (_, of) =>
    Array.from({ length: of + 2 }, (__, n) => Math.fround(n / (of + 1))),
  ).flat();
  const sampled = fc.sample(fc.integer({ min: 0, max: 0x3f800000 }).map(ofBits), 20_000);
  const values = [-0, Math.fround(1e-4), ...around, ...ties, ...shares, ...sampled].filter((x) => x <= 1);
  expect(await written('FLOAT', values, floatSql('value'))).toEqual(values.map(float32Text));
});

/** Texts of the signs that mean something to a reader of tables, and of any others. */
const texts = fc.oneof(
  fc
    .array(fc.constantFrom(...Array.from('=+-@\'",;\t\r\n _x0041.5eE<>&\u0001\u001b\ufffeβ🦠')), {
      maxLength: 14,
    })
    .map((signs) => signs.join('')),
  fc
    .array(fc.constantFrom('_x0041', '_', '-0,5', ';', '"', '=1+1', '-2', ' ', '\t'), { maxLength: 6 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

const isNumber = (text: string): boolean => /^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i.test(text);

function harmless(text: string): string {
  return text.replaceAll(
    /(^|[,;\t\r\n])([" ]*[=+\-@][^,;\t\r\n]*)/g,
    (found, before: string, cell: string) => (isNumber(cell) ? found : `${before}'${cell}`),
  );
}

function csvCell(text: string, separator: ',' | ';'): string {
  if (isNumber(text)) return text.includes(separator) ? `"${text}"` : text;
  const cell = harmless(text);
  return /[,;\t"\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

it.each([
  [',', 'contig_1', 'contig_1'],
  [',', '=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  [',', '+SUM(A1)', "'+SUM(A1)"],
  [',', '-2+3', "'-2+3"],
  [',', '@cmd', "'@cmd"],
  [',', '-1.5e-3', '-1.5e-3'],
  [',', 'a,b', '"a,b"'],
  [',', 'two\nlines', '"two\nlines"'],
  // No formula, even for a spreadsheet with other separators.
  [',', 'a;=1+1', `"a;'=1+1"`],
  [';', 'a,=1+1', `"a,'=1+1"`],
  [',', 'a\t@cmd', `"a\t'@cmd"`],
  [',', 'a;"=1+1"', `"a;'""=1+1"""`],
  // Numbers of either country.
  [';', '-0,5', '-0,5'],
  [',', '-0,5', '"-0,5"'],
  [',', 'from 1;-5', '"from 1;-5"'],
] as const)('makes for cells between %j of %j %j', async (separator, text, cell) => {
  expect(await written('VARCHAR', [text], csvSql('value', separator))).toEqual([cell]);
});

it('writes every text as the tables do', async () => {
  const values = fc.sample(texts, 20_000);
  expect(await written('VARCHAR', values, csvSql('value', ','))).toEqual(
    values.map((one) => csvCell(one, ',')),
  );
  expect(await written('VARCHAR', values, csvSql('value', ';'))).toEqual(
    values.map((one) => csvCell(one, ';')),
  );
  expect(await written('VARCHAR', values, harmlessSql('value'))).toEqual(values.map(harmless));
  expect(await written('VARCHAR', values, xmlSql('value'))).toEqual(values.map(escaped));
});
