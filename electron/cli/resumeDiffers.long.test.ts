import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readTables,
  REAL_PYTHON,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

describe.skipIf(WITHOUT_PYTHON)('predict --resume', () => {
  it('refuses other inputs and settings, and names the differences', async () => {
    const parent = temporaryFolder();
    const at = (name: string) => join(parent, name);
    const [input, other, folder] = [at('input.fa'), at('other.fa'), at('run')];
    copyFileSync(SAMPLE, input);
    writeFileSync(other, '>other\nACGTACGTACGT\n');
    const predict = (...words: string[]): string[] => [
      ...['predict', '-o', folder, '--devices', 'cpu', '--python', REAL_PYTHON, '-q'],
      ...words,
    ];
    await succeeds(predict(input, '--model', 'teaching', '--chunk-length', '400', '--precision', 'fp32'));
    const tables = await readTables(folder);

    const refuses = async (words: string[], ...differs: string[]): Promise<void> => {
      const { code, output } = await ended(virnucpro(predict(...words, '--resume')));
      expect(code, output).toBe(1);
      expect(output).toContain('was made from other inputs or with other settings: ');
      for (const what of differs) expect(output).toContain(what);
    };
    await refuses(
      [other],
      `${other} is not among its inputs; ${input} is one of its inputs and was not named`,
    );
    const sizes = ['--chunk-length', '500', '--residues-per-part', '900', '--tokens-per-batch', '777'];
    await refuses(
      [
        input,
        other,
        ...sizes,
        '--precision',
        'fp16',
        '--embeddings',
        '--gpu-memory',
        '5',
        '--strict',
        '--keep-work',
        ...['--min-length', '600', '--genetic-code', '4'],
      ],
      `${other} is not among its inputs`,
      '--chunk-length is 400 and not 500',
      'and not 900',
      'and not 777',
      '--precision is fp32 and not fp16',
      '--embeddings is off and not fp16',
      '--gpu-memory is off and not 5',
      '--strict is off and not on',
      '--keep-work is off and not on',
      '--min-length is off and not 600',
      '--genetic-code is 11 and not 4',
    );
    await succeeds(predict(input, '--model', 'teaching', '--chunk-length', '400', '--resume'));

    appendFileSync(input, '>more\nACGT\n');
    await refuses([input], `${input} has changed since`);
    expect(await readTables(folder)).toEqual(tables);
  });
});
