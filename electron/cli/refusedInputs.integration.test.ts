import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inWords, said, type Said } from '../contract/problems.ts';
import { REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro } from './testing/commandLineProcess.ts';

const FILES: Record<string, { content: string; problem: Said }> = {
  'archive.fa': { content: 'PK\u0003\u0004 and more', problem: said('archive', {}) },
  'proteins.fa': {
    content: '>p\nMKVLAAGIVGLLLAQWERTYIPASDFGHKLCVNM\n',
    problem: said('looks_like_protein', {}),
  },
};

/** Every command that reads inputs. */
const COMMANDS: Record<string, (file: string, other: string) => string[]> = {
  validate: (file) => [file],
  predict: (file) => [file],
  prepare: (file) => [file, '--processors'],
  'import-legacy': (file) => ['.', file],
  calibrate: (file, other) => ['--viral', file, '--other', other],
  check: (file) => ['precision', file],
};

describe.skipIf(WITHOUT_PYTHON)('an input that cannot be used', () => {
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'good.fa'), `>s\n${'ATGAAACGTGCAGGC'.repeat(40)}\n`);
    for (const [name, { content }] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
  });

  it.each(
    Object.entries(COMMANDS).flatMap(([command, wordsFor]) =>
      Object.entries(FILES).map(([name, { problem }]) => ({ command, wordsFor, name, problem })),
    ),
  )(
    'is refused by $command in the words of all commands: $name',
    async ({ command, wordsFor, name, problem }) => {
      const [file, good] = [join(folder, name), join(folder, 'good.fa')];
      const to = ['validate', 'check'].includes(command) ? [] : ['-o', join(folder, `${command} ${name}`)];
      const model = command === 'validate' ? [] : ['--model', 'teaching'];
      const words = [command, ...wordsFor(file, good), ...to, ...model, '--python', REAL_PYTHON];
      const { code, output } = await ended(virnucpro(words));
      const { sentence, next } = inWords(problem);
      expect(output).toContain(sentence.text);
      expect(output).toContain(next.text);
      expect(code).toBe(1);
    },
  );

  it('says of sequences in which nothing can be scored that precision needs others', async () => {
    const file = join(folder, 'closed.fa');
    writeFileSync(file, `>s\n${'CTAA'.repeat(20)}\n`);
    const { code, output } = await ended(
      virnucpro(['check', 'precision', file, '--model', 'teaching', '--python', REAL_PYTHON]),
    );
    expect([code, output.includes('open reading frame')]).toEqual([1, true]);
  });
});
