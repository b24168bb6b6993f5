import { describe, expect, it } from 'vitest';
import { firstWord } from '../../../results/cellText.ts';

describe('the name of a record', () => {
  it.each([
    ['contig_1 length=500', 'contig_1'],
    ['  indented name', 'indented'],
    ['tab\tname', 'tab'],
    ['', ''],
    [' \t ', ''],
    ['no\u00a0break', 'no'],
    ['information\u001fseparator', 'information'],
    ['next\u0085line', 'next'],
    ['\ufeffmark is a letter to Python', '\ufeffmark'],
    ['zero\u200bwidth x', 'zero\u200bwidth'],
    ['naïve|Schön é', 'naïve|Schön'],
  ])('for %j is %j', (header, name) => {
    expect(firstWord(header)).toBe(name);
  });
});
