import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro, type Ending } from './testing/commandLineProcess.ts';

const SEQUENCES = `>one\n${'ATGAAACGTGCAGGCTTA'.repeat(20)}\n>two\n${'ATGCCCGGGTTTAAACGT'.repeat(30)}\n`;

describe.skipIf(WITHOUT_PYTHON || process.platform === 'win32')('predict -', () => {
  it('reads standard input, resumes only with the same input, and leaves no file if no run was created', async () => {
    const folder = temporaryFolder();
    const path = (name: string): string => join(folder, name);
    writeFileSync(path('one.fa'), SEQUENCES);
    writeFileSync(path('other.fa'), SEQUENCES.replace('two', 'three'));
    const predict = (from: string, input: string, ...flags: string[]): Promise<Ending> =>
      ended(
        virnucpro(
          ['predict', input, '--devices', 'cpu:1', '--python', REAL_PYTHON, '-o', path('piped'), ...flags],
          { shell: `exec < '${path(from)}'` },
        ),
      );
    const model = ['--model', 'teaching'];

    expect((await predict('one.fa', '-', '--model', path('nowhere'))).code).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(['one.fa', 'other.fa']);

    const done = await predict('one.fa', '-', ...model);
    expect(done.code, done.output).toBe(0);
    expect(readFileSync(path('piped_stdin'), 'utf8')).toBe(SEQUENCES);
    const named = await predict('one.fa', path('one.fa'), ...model, '-o', path('named'));
    expect(named.code, named.output).toBe(0);
    const scores = (run: string): string =>
      readFileSync(join(path(run), 'prediction_results_highestscore.csv'), 'utf8');
    expect(scores('piped')).toBe(scores('named'));

    expect((await predict('one.fa', '-', ...model, '--resume')).code).toBe(0);
    expect((await predict('other.fa', '-', ...model, '--resume')).code).toBe(1);
    expect(readFileSync(path('piped_stdin'), 'utf8')).toBe(SEQUENCES);
    expect(existsSync(path('piped_stdin.part'))).toBe(false);
  });
});
