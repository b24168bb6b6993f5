import { describe, expect, it } from 'vitest';
import { sampleNames } from './samples.ts';

describe('samples', () => {
  it.each([
    [
      ['/d/gut_R1.fastq.gz', '/d/gut_R2.fastq.gz'],
      ['gut', 'gut'],
    ],
    [
      ['/d/gut_S1_L001_R1_001.fastq.gz', '/d/gut_S1_L001_R2_001.fastq.gz'],
      ['gut_S1_L001', 'gut_S1_L001'],
    ],
    [
      ['gut_1.fq', 'gut_2.fq', 'soil.fna'],
      ['gut', 'gut', 'soil'],
    ],
    [
      ['a.1.fa', 'a.2.fa'],
      ['a', 'a'],
    ],
    // No mate, or another's: the name as it is.
    [['gut_1.fq'], ['gut_1']],
    [
      ['gut_R1.fq', 'gut_2.fq'],
      ['gut_R1', 'gut_2'],
    ],
    [
      ['sample_3.fa', 'sample_4.fa'],
      ['sample_3', 'sample_4'],
    ],
    // Of two folders.
    [
      ['/a/gut_1.fq', '/b/gut_2.fq'],
      ['gut_1', 'gut_2'],
    ],
    [
      ['/a/x.fa', '/b/x.fa'],
      ['a/x', 'b/x'],
    ],
    [
      ['C:\\data\\x.fasta.zst', 'C:\\more\\y.fa'],
      ['x', 'y'],
    ],
    [
      ['reads.fa', 'reads.fa'],
      ['reads', 'reads'],
    ],
    [['/d/.fa'], ['.fa']],
  ])('of %j are %j', (paths, names) => {
    expect(sampleNames(paths)).toEqual(names);
  });
});
