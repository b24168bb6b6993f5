import { describe, expect, it } from 'vitest';
import { sampleNames } from './samples.ts';

const sent = (number: number): string => `0b7c6a52-6c8e-4b57-9d0c-3f0e7f0f6a1${number}`;

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
    // Sent by a browser: each in a folder of its own, and two pairs of one name in four.
    [
      [`/u/${sent(1)}/gut_R1.fq.gz`, `/u/${sent(2)}/gut_R2.fq.gz`],
      ['gut', 'gut'],
    ],
    [
      [`/u/${'a'.repeat(64)}/gut_R1.fq`, `/u/${'b'.repeat(64)}/gut_R2.fq`],
      ['gut', 'gut'],
    ],
    [
      [`/u/${sent(1)}/a_1.fq`, `/u/${sent(2)}/a_2.fq`, `/u/${sent(3)}/a_1.fq`],
      [`${sent(1)}/a_1`, 'a_2', `${sent(3)}/a_1`],
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
