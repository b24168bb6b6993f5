import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectedFileSchema } from '../contract/protocol/index.ts';
import { RESULT_FILES } from '../contract/results.ts';
import { REAL_PYTHON } from '../engine/testing/realFiles.ts';
import { readTables, SAMPLE, temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { succeeds } from './testing/commandLineProcess.ts';

const HERE = ['--python', REAL_PYTHON, '-q'];
const ASKED = ['--model', 'teaching', '--precision', 'fp32', '--residues-per-part', '800', ...HERE];
const SHORTEST = 700;

describe.skipIf(WITHOUT_PYTHON)('predict --min-length', () => {
  it('counts shorter sequences, computes the others as without it, and alike in shares', async () => {
    const parent = temporaryFolder();
    const input = join(parent, 'input.fa');
    const letters = readFileSync(SAMPLE, 'utf8').replace(/^>.*$/gm, '').replace(/\s/g, '');
    const lengths = [SHORTEST - 1, 1500, SHORTEST, 40, 0, 2100];
    writeFileSync(
      input,
      lengths.map((length, i) => `>s${i}\n${letters.slice(500 * i, 500 * i + length)}\n`).join(''),
    );
    const folders = { all: '', long: '', shared: '' };
    for (const name of ['all', 'long', 'shared'] as const) folders[name] = join(parent, name);
    const atLeast = ['--min-length', String(SHORTEST)];
    const order = ['--order', 'sample'];
    await succeeds(['predict', input, '-o', folders.all, ...order, ...ASKED]);
    await succeeds(['predict', input, '-o', folders.long, ...order, ...atLeast, ...ASKED]);

    const lines = (folder: string, name: 'sequences' | 'chunks') =>
      readFileSync(join(folder, RESULT_FILES[name]), 'utf8').split('\n');
    const [whole, long] = [lines(folders.all, 'sequences'), lines(folders.long, 'sequences')];
    for (const [i, length] of lengths.entries())
      if (length >= SHORTEST || length === 0) expect(long[i + 1]).toBe(whole[i + 1]);
      else expect(long[i + 1]).toMatch(/\tnot_scored\tbelow_min_length\t/);
    expect(lines(folders.long, 'chunks')).toEqual(
      lines(folders.all, 'chunks').filter((line) => !/^s[03]\t/.test(line)),
    );

    const { problems, judged } = inspectedFileSchema
      .pick({ problems: true, judged: true })
      .parse(JSON.parse(await succeeds(['validate', input, '--json', ...atLeast, '--python', REAL_PYTHON])));
    expect(problems.find(({ code }) => code === 'below_min_length')).toMatchObject({ count: 2 });
    expect(judged['500']?.chunks).toBe(lines(folders.long, 'chunks').length - 2);
    const { plan, counts } = JSON.parse(readFileSync(join(folders.long, 'run.json'), 'utf8')) as {
      plan: object;
      counts: object;
    };
    expect(plan).toMatchObject({ min_length: SHORTEST });
    expect(counts).toMatchObject({ by_reason: { below_min_length: 2, empty: 1 } });

    await succeeds(['prepare', input, '-o', folders.shared, '--processors', ...order, ...atLeast, ...ASKED]);
    for (const share of ['1/2', '2/2'])
      await succeeds(['compute', folders.shared, '--share', share, ...HERE]);
    await succeeds(['finish', folders.shared, ...HERE]);
    expect(await readTables(folders.shared)).toEqual(await readTables(folders.long));
  });
});
