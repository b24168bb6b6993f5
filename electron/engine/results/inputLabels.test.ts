import { describe, expect, it } from 'vitest';
import { inputLabels } from './cellText.ts';

describe('input labels', () => {
  it("are file names if these distinguish the inputs, so that they do not depend on the folder's location", () => {
    expect(inputLabels(['/home/me/a.fasta', 'C:\\data\\b.fasta.gz'])).toEqual(['a.fasta', 'b.fasta.gz']);
  });

  it('include as many folders as needed', () => {
    const labels = inputLabels(['/x/run1/reads/a.fa', '/x/run2/reads/a.fa', '/x/run2/b.fa']);
    expect(labels).toEqual(['run1/reads/a.fa', 'run2/reads/a.fa', 'b.fa']);
    expect(inputLabels(['/x/a.fa', '/y//a.fa'])).toEqual(['x/a.fa', 'y/a.fa']);
  });

  it('stay within one cell, and cannot control the terminal', () => {
    expect(inputLabels(['a\r\n\tb\u001b[31m\u202e.fa'])).toEqual(['a b\\u001b[31m\\u202e.fa']);
    expect(inputLabels(['/x/odd\tname\n.fa', '/y/odd\tname\n.fa'])).toEqual([
      'x/odd name .fa',
      'y/odd name .fa',
    ]);
  });

  it('are short for a path that is given twice, which is one file', () => {
    expect(inputLabels(['/x/a.fa', '/x/a.fa'])).toEqual(['a.fa', 'a.fa']);
  });
});
