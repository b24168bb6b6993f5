import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RESULT_FILES } from '../contract/results.ts';
import { REAL_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder, WITHOUT_PYTHON } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro } from './testing/commandLineProcess.ts';

const HERE = ['--python', REAL_PYTHON, '-q'];
const ASKED = ['--model', 'teaching', '--precision', 'fp32', ...HERE];

/** Its first frame is open where the codon is read as an amino acid; all others hold TAA. */
const gene = (codon: string): string => `${codon}TTAATTAACCTTTACTACCGT`.repeat(20);

describe.skipIf(WITHOUT_PYTHON)('predict --genetic-code', () => {
  it('opens the frames that the standard code closes, and is a property of the run', async () => {
    const parent = temporaryFolder();
    const input = join(parent, 'input.fa');
    writeFileSync(input, `>tag\n${gene('TAG')}\n>tga\n${gene('TGA')}\n>other\n${gene('CAG')}\n`);
    const run = async (name: string, ...flags: string[]) => {
      await succeeds(['predict', input, '-o', join(parent, name), ...flags, ...ASKED]);
      return join(parent, name);
    };
    const proteinsOf = async (folder: string) => {
      const file = join(folder, 'proteins.faa');
      await succeeds(['export', folder, '--format', 'proteins', '-o', file, '--python', REAL_PYTHON]);
      const records = readFileSync(file, 'utf8').split('>').slice(1);
      return records.map((record) => {
        const [header = '', ...lines] = record.split('\n');
        return [header.split('_')[0], lines.join('')];
      });
    };
    const protein = (residue: string) => `${residue}LINLYYR`.repeat(20);
    const usual = await run('usual', '--genetic-code', '11');
    const fifteen = await run('fifteen', '--genetic-code', '15');
    const four = await run('four', '--genetic-code', '4');

    expect(await proteinsOf(usual)).toEqual([['other', protein('Q')]]);
    expect(await proteinsOf(fifteen)).toEqual([
      ['tag', protein('Q')],
      ['other', protein('Q')],
    ]);
    expect(await proteinsOf(four)).toEqual([
      ['tga', protein('W')],
      ['other', protein('Q')],
    ]);
    const [, , , ofOther] = readFileSync(join(usual, RESULT_FILES.sequences), 'utf8').split('\n');
    expect(readFileSync(join(four, RESULT_FILES.sequences), 'utf8')).toContain(ofOther);

    const planOf = (folder: string) =>
      (JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as { plan: object }).plan;
    expect(planOf(four)).toMatchObject({ genetic_code: 4 });
    expect(planOf(usual)).not.toHaveProperty('genetic_code');

    const reused = await ended(
      virnucpro(['predict', input, '-o', join(parent, 'reused'), '--reuse-embeddings', four, ...ASKED]),
    );
    expect(reused.code).toBe(1);
  });
});
