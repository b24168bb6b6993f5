import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { runRequestSchema } from '../../contract/rpc/runs.ts';
import { createRun } from '../run/begin/createRun.ts';
import { OpenRun } from '../run/openRun.ts';
import { inspectInputs } from './collectInputs.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import type { InspectedFile } from '../../contract/protocol/index.ts';
import { toldOf } from '../../contract/problems.ts';
import { pairProblems } from '../../contract/readPairs.ts';

const READ = 'ACGTTGCA'.repeat(12);
const fastq = (names: readonly string[]) => names.map((name) => `@${name}\n${READ}\n+\n${READ}\n`).join('');
const fasta = (names: readonly string[], bases = READ) =>
  names.map((name) => `>${name}\n${bases}\n`).join('');
const numbered = (count: number, mate = '') => Array.from({ length: count }, (_, n) => `r${n}${mate}`);

/** What is said about each file, after files of these names and contents were read. */
async function said(files: Record<string, string>): Promise<[string, string, object | undefined][]> {
  const folder = temporaryFolder();
  const paths = Object.keys(files).map((name) => join(folder, name));
  for (const path of paths) await writeFile(path, files[basename(path)] ?? '');
  const inspected: InspectedFile[] = [];
  const outcome = await inspectInputs(testContext(), paths, { looks: ['500'], repairs: [] }, (file) =>
    inspected.push(file),
  );
  expect(outcome.ok).toBe(true);
  return [...pairProblems(inspected)].flatMap(([path, problems]) =>
    problems.map(({ code, values }): [string, string, object | undefined] => [basename(path), code, values]),
  );
}

describe.skipIf(WITHOUT_PYTHON)('the two files of a read pair', () => {
  it('are as they should be if numbers and names agree', async () => {
    const pairs: [string, string][] = [
      [fastq(numbered(40)), fastq(numbered(40))],
      [fastq(numbered(40, '/1')), fastq(numbered(40, '/2'))],
      [fastq(numbered(40, ' 1:N:0:AC')), fastq(numbered(40, ' 2:N:0:AC'))],
      [fasta(numbered(3000)), fasta(numbered(3000))],
    ];
    for (const [one, two] of pairs) expect(await said({ 'a_R1.fq': one, 'a_R2.fq': two })).toEqual([]);
  });

  it('are compared by their numbers of reads', async () => {
    expect(await said({ 'a_R1.fq': fastq(numbered(5)), 'a_R2.fq': fastq(numbered(3)) })).toEqual([
      ['a_R2.fq', 'mates_unequal', { file: 'a_R2.fq', other: 'a_R1.fq', reads: '3', others: '5' }],
    ]);
    expect(await said({ 'a_1.fa': fasta(numbered(5)), 'a_2.fa': fasta(numbered(9000)) })).toMatchObject([
      ['a_2.fa', 'mates_unequal', { reads: '9,000', others: '5' }],
    ]);
  });

  it('are compared by their names, from the first read that differs', async () => {
    const reads = numbered(30, '/1');
    expect(await said({ 'a_R1.fq': fastq(reads), 'a_R2.fq': fastq(reads.toSpliced(11, 1)) })).toMatchObject([
      ['a_R2.fq', 'mates_unequal', { reads: '29', others: '30' }],
      ['a_R2.fq', 'mates_disagree', { read: '12' }],
    ]);
    const exchanged = [...reads.slice(0, 20), ...reads.slice(20).reverse()];
    expect(await said({ 'a_R1.fq': fastq(reads), 'a_R2.fq': fastq(exchanged) })).toMatchObject([
      ['a_R2.fq', 'mates_disagree', { read: '21' }],
    ]);
    // Only the last reads differ, behind the last mark.
    const many = numbered(5001);
    const replaced = [...many.slice(0, 5000), 'x'];
    expect(await said({ 'a_R1.fq': fastq(many), 'a_R2.fq': fastq(replaced) })).toMatchObject([
      ['a_R2.fq', 'mates_disagree', { read: '5,001' }],
    ]);
    expect(await said({ 'a_R1.fq': fastq(many), 'a_R2.fq': fastq(many.toSpliced(4001, 1)) })).toMatchObject([
      ['a_R2.fq', 'mates_unequal', {}],
      ['a_R2.fq', 'mates_disagree', { read: '4,001–4,008' }],
    ]);
  });

  it('are not meant by files of contigs, or of other sequences, with such names', async () => {
    const contigs = (names: readonly string[]) => fasta(names, READ.repeat(20));
    for (const [one, two] of [
      [contigs(numbered(5)), contigs(numbered(3))],
      [fasta(numbered(5)), fasta(['x', 'y'])],
      [fastq(numbered(5)), ''],
    ] as const)
      expect(await said({ 'bin_1.fa': one, 'bin_2.fa': two })).toEqual([]);
  });

  it('are compared before a run, and its log and list of problems say what was found', async () => {
    const parent = temporaryFolder();
    const inputs = ['a_R1.fq', 'a_R2.fq'].map((name) => join(parent, name));
    for (const [index, path] of inputs.entries()) await writeFile(path, fastq(numbered(5 - 2 * index)));
    const request = runRequestSchema.parse({
      inputs,
      outputDir: join(parent, 'run'),
      model: 'teaching',
      devices: 'cpu',
    });
    const context = testContext();
    const created = unwrap(await createRun(context, { request, defaultParent: parent }));
    const run = unwrap(await OpenRun.open(context, created.folder));
    expect(run.record.stored.problems).toMatchObject([{ input: 1, code: 'mates_unequal', count: 2 }]);
    await run.close();
    const log = await readFile(join(created.folder, 'logs', 'run.log'), 'utf8');
    expect(log).toContain(created.pairProblems.map((problem) => toldOf(problem))[0]);
  });
});
