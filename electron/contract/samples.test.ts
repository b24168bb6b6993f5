import { describe, expect, it } from 'vitest';
import { matchSheet, matesOf, NO_DETAILS, sampleNames, samplesOfSheet, wilson } from './samples.ts';

const sent = (number: number): string => `0b7c6a52-6c8e-4b57-9d0c-3f0e7f0f6a1${number}`;

describe('samples', () => {
  it.each([
    ['/d/gut_R1.fastq.gz /d/gut_R2.fastq.gz', 'gut gut'],
    ['/d/gut_S1_L001_R1_001.fastq.gz /d/gut_S1_L001_R2_001.fastq.gz', 'gut_S1_L001 gut_S1_L001'],
    ['gut_1.fq gut_2.fq soil.fna', 'gut gut soil'],
    ['a.1.fa a.2.fa', 'a a'],
    // Without a mate, or with another sample's mate, the name is used unchanged.
    ['gut_1.fq', 'gut_1'],
    ['gut_R1.fq gut_2.fq', 'gut_R1 gut_2'],
    ['sample_3.fa sample_4.fa', 'sample_3 sample_4'],
    // Sent by a browser: each file is in a folder of its own, and two pairs with one name give four samples.
    [`/uploads/${sent(1)}/gut_R1.fq.gz /uploads/${sent(2)}/gut_R2.fq.gz`, 'gut gut'],
    [`/uploads/${'a'.repeat(64)}/gut_R1.fq /uploads/${'b'.repeat(64)}/gut_R2.fq`, 'gut gut'],
    [
      `/uploads/${sent(1)}/a_1.fq /uploads/${sent(2)}/a_2.fq /uploads/${sent(3)}/a_1.fq`,
      `${sent(1)}/a_1 a_2 ${sent(3)}/a_1`,
    ],
    // Sent together with their folders.
    [`/uploads/${sent(1)}/a/x_1.fq /uploads/${sent(2)}/a/x_2.fq /uploads/${sent(3)}/b/x_1.fq`, 'x x x_1'],
    // Such a name has no meaning for a folder of the user's own.
    [`/gdc/${sent(1)}/x_1.fq /gdc/${sent(2)}/x_2.fq`, 'x_1 x_2'],
    // From two folders.
    ['/a/gut_1.fq /b/gut_2.fq', 'gut_1 gut_2'],
    ['/ab/c_1.fq /a/bc_2.fq', 'c_1 bc_2'],
    ['/a/x.fa /b/x.fa', 'a/x b/x'],
    ['C:\\data\\x.fasta.zst C:\\more\\y.fa', 'x y'],
    ['reads.fa reads.fa', 'reads reads'],
    ['/d/.fa', '.fa'],
    // An empty name of a folder has no meaning, and nothing else distinguishes these two.
    ['/d//gut_1.fq /d/gut_2.fq /d//x.fa /e/x.fa', 'gut gut d/x e/x'],
    ['/x.fa x.fa', '/x.fa x.fa'],
    // The mates of a pair differ in nothing but their number.
    ['/d/a_1.fq /d/a-2.fq /d/b_1_001.fq /d/b_2.fq', 'a_1 a-2 b_1_001 b_2'],
  ])('groups %s into %s', (paths, names) => {
    expect(sampleNames(paths.split(' '))).toEqual(names.split(' '));
  });

  it('know the mate of each file, also of one that is named twice, but not of one of two with its name', () => {
    const pair = ['/d/a_2.fq', '/d/soil.fa', '/d/a_1.fq'];
    expect(matesOf(pair)).toEqual([2, null, 0]);
    expect(matesOf([...pair, '/d/a_1.fq'])).toEqual([3, null, 0, 0]);
    const twice = [1, 2].map((folder) => `/uploads/${sent(folder)}/a_1.fq`);
    expect(matesOf([`/uploads/${sent(3)}/a_2.fq`, ...twice])).toEqual([null, null, null]);
  });
});

describe('a sample sheet', () => {
  const matched = (files: readonly string[], paths: readonly string[]) => {
    const rows = files.map((file) => ({ ...NO_DETAILS, file, sample: file }));
    const match = matchSheet(rows, paths);
    return {
      samples: paths.map((path) => match.rows.get(path)?.sample ?? null),
      missing: match.missing.length,
      ambiguous: match.ambiguous.length,
    };
  };

  it('matches files by as many folders as needed, also if a browser has sent them', () => {
    const clear = { samples: ['x/a.fq', 'y/a.fq'], missing: 0, ambiguous: 0 };
    expect(matched(['x/a.fq', 'y/a.fq'], ['/d/x/a.fq', '/d/y/a.fq'])).toEqual(clear);
    expect(matched(['./x//a.fq', 'y/a.fq/'], ['/d/x/a.fq', '/d//y/./a.fq'])).toEqual({
      ...{ samples: ['./x//a.fq', 'y/a.fq/'], missing: 0, ambiguous: 0 },
    });
    const uploads = [`/uploads/${sent(1)}/x/a.fq`, `/uploads/${sent(2)}/y/a.fq`];
    expect(matched(['x/a.fq', 'y/a.fq'], uploads)).toEqual(clear);
    expect(matched(['a.fq'], uploads)).toMatchObject({ ambiguous: 1 });
    expect(matched(['z/a.fq'], uploads)).toMatchObject({ missing: 1 });
  });

  it('requires the folders of a file, but not those that were not sent', () => {
    const alone = `/uploads/${sent(1)}/a.fq`;
    expect(matched(['reads/a.fq'], [alone])).toMatchObject({ samples: ['reads/a.fq'], missing: 0 });
    expect(matched(['reads/a.fq', '/'], ['a.fq'])).toEqual({ samples: [null], missing: 2, ambiguous: 0 });
  });

  it('applies to both files of a pair, and names the samples of a request', () => {
    const paths = ['/d/gut_R1.fq', '/d/gut_R2.fq', '/d/soil.fa', '/d/x_1.fq', '/d/x_2.fq'];
    const details = { group: 'patients', note: 'day 3', control: true };
    const x = ['1', '2'].map((mate) => ({ ...NO_DETAILS, file: `x_${mate}.fq`, sample: `x${mate}` }));
    const { rows, unnamed } = matchSheet([{ ...details, file: 'gut_R2.fq', sample: 'G' }, ...x], paths);
    expect(unnamed).toEqual(['/d/soil.fa']);
    expect(samplesOfSheet(rows)).toEqual({
      samples: { '/d/gut_R1.fq': 'G', '/d/gut_R2.fq': 'G', '/d/x_1.fq': 'x1', '/d/x_2.fq': 'x2' },
      sampleDetails: {
        '/d/gut_R1.fq': details,
        '/d/gut_R2.fq': details,
        '/d/x_1.fq': NO_DETAILS,
        '/d/x_2.fq': NO_DETAILS,
      },
    });
  });
});

it('has Wilson’s intervals, also if nothing or everything is called, or nothing was looked at', () => {
  const rounded = (part: number, whole: number) =>
    Object.values(wilson(part / whole, whole)).map((end) => Math.round(1000 * end));
  // The values of the control panel's Python code.
  expect(rounded(78, 100)).toEqual([689, 850]);
  expect(rounded(20, 20)).toEqual([839, 1000]);
  expect(rounded(0, 20)).toEqual([0, 161]);
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
});
