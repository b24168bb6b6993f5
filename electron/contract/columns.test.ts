import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COLUMN_KEYS, columnName, sequenceColumn } from './columns.ts';

const FILES = { sequences: '`sequences.tsv`', results: '`results.parquet`', exports: 'exports' };

it('has every column in docs/results.md, as the list says it', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'results.md'), 'utf8');
  const [, section = ''] = /^## Columns\n(.*?)^## /ms.exec(page) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.map((row) => row.replaceAll(/ +/g, ' '))).toEqual(
    COLUMN_KEYS.map((key) => {
      const { en, tables } = sequenceColumn(key);
      const where = tables ? tables.map((table) => FILES[table]).join(', ') : 'all';
      return `| \`${columnName(key)}\` | ${en[1]} | ${where} |`;
    }),
  );
});
