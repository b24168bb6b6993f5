import { describe, expect, it } from 'vitest';
import { inputLabels } from './cellText.ts';

describe('input labels', () => {
  it('are file names, with as many folders as tell the files apart', () => {
    const labels = inputLabels(['/x/run1/reads/a.fa', '/x/run2/reads/a.fa', 'C:\\run2\\b.fa']);
    expect(labels).toEqual(['run1/reads/a.fa', 'run2/reads/a.fa', 'b.fa']);
    // A path that is given twice is one file.
    expect(inputLabels(['/x/a.fa', '/x/a.fa'])).toEqual(['a.fa', 'a.fa']);
    expect(inputLabels(['/x/a.fa', '/y//a.fa'])).toEqual(['x/a.fa', 'y/a.fa']);
  });

  it('stay within one cell, and cannot control the terminal', () => {
    expect(inputLabels(['a\r\n\tb\u001b[31m\u202e.fa'])).toEqual(['a b\\u001b[31m\\u202e.fa']);
    expect(inputLabels(['/x/odd\tname\n.fa', '/y/odd\tname\n.fa'])).toEqual([
      'x/odd name .fa',
      'y/odd name .fa',
    ]);
  });
});
