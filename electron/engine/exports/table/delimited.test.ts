import { describe, expect, it } from 'vitest';
import { csvCell } from './delimited.ts';

describe('csvCell', () => {
  it.each([
    ['contig_1', 'contig_1'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ['+SUM(A1)', "'+SUM(A1)"],
    ['-2+3', "'-2+3"],
    ['@cmd', "'@cmd"],
    ['-1.5e-3', '-1.5e-3'],
    ['a,b', '"a,b"'],
    ['two\nlines', '"two\nlines"'],
  ])('%j -> %j', (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });

  it('keeps apart what the separators of a country would not', () => {
    expect(csvCell('a;b', ';')).toBe('"a;b"');
    expect(csvCell('a,b', ';')).toBe('a,b');
    expect(csvCell('-0,5', ';')).toBe('-0,5');
  });
});
