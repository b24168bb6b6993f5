import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro } from './testing/commandLineProcess.ts';

const SEQUENCE = 'ATGAAACGTGCAGGCTTA'.repeat(20);
const read = (name: string, values: number): string =>
  `@${name}\n${SEQUENCE.slice(0, 180)}\n${SEQUENCE.slice(180)}\n+\n${'I'.repeat(180)}\n${'I'.repeat(values)}\n`;

describe.skipIf(WITHOUT_PYTHON)('damaged records, and lines that belong to none', () => {
  it('cost nothing but themselves, and are told before, in, and after the run', async () => {
    const folder = temporaryFolder();
    const path = (name: string): string => join(folder, name);
    writeFileSync(path('reads.fastq'), read('a', 180) + read('b', 60) + 'connection lost\n' + read('c', 180));
    writeFileSync(path('glued.fasta'), `kept by hand\n>host\n${SEQUENCE}>phage\n${SEQUENCE}\n`);
    const inputs = [path('reads.fastq'), path('glued.fasta')];
    const python = ['--python', REAL_PYTHON];

    const validated = await ended(virnucpro(['validate', '--json', ...inputs, ...python]));
    const files = validated.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { path: string; bytes: Record<string, number>; size_bytes: number });
    expect(files.map(({ path: file }) => file)).toEqual(inputs);
    for (const { bytes, size_bytes } of files)
      expect(Object.values(bytes).reduce((sum, size) => sum + size)).toBe(size_bytes);
    expect(files[1]?.bytes).toMatchObject({ used: 0, passed_over: 'kept by hand\n'.length });

    const run = path('run');
    const flags = ['--model', 'teaching', '--devices', 'cpu:1', ...python];
    const done = await ended(virnucpro(['predict', ...inputs, '-o', run, ...flags]));
    expect(done.code, done.output).toBe(2);
    const lines = (name: string) => readFileSync(join(run, name), 'utf8').trimEnd().split('\n').slice(1);
    const cells = (name: string) => lines(name).map((line) => line.split('\t'));
    expect(cells('sequences.tsv').map(([name]) => name)).toEqual(['a', 'b', 'c', 'host']);
    expect(cells('failed_records.tsv').map(([name, file, , , reason]) => [name, file, reason])).toEqual([
      ['b', 'reads.fastq', 'malformed_record'],
      ['host', 'glued.fasta', 'malformed_record'],
      ['NA', 'glued.fasta', 'passed_over'],
    ]);
    expect(readFileSync(join(run, 'run.json'), 'utf8')).toContain('"passed_over"');
    expect((await ended(virnucpro(['resume', run, ...python]))).code).toBe(2);
  });
});
