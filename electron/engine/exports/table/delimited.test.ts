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

  it('holds no formula, even for a spreadsheet with other separators', () => {
    expect(csvCell('a;=1+1')).toBe(`"a;'=1+1"`);
    expect(csvCell('a,=1+1', ';')).toBe(`"a,'=1+1"`);
    expect(csvCell('a\t@cmd')).toBe(`"a\t'@cmd"`);
    expect(csvCell('a;"=1+1"')).toBe(`"a;'""=1+1"""`);
  });

  it('leaves numbers unchanged in either country', () => {
    expect(csvCell('-0,5', ';')).toBe('-0,5');
    expect(csvCell('-0,5', ',')).toBe('"-0,5"');
    expect(csvCell('from 1;-5')).toBe('"from 1;-5"');
  });
});
