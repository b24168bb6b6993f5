import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro } from './testing/commandLineProcess.ts';

it.skipIf(WITHOUT_PYTHON)(
  'notes what controls said before a run, and keeps them out of its results',
  async () => {
    const folder = await temporaryFolder();
    const input = join(folder, 'one.fa');
    writeFileSync(
      input,
      `>one\n${'ATGAAACGTGCAGGCTTA'.repeat(20)}\n>two\n${'ATGCCCGGGTTTAAACGT'.repeat(30)}\n`,
    );
    const run = async (name: string, ...flags: string[]) => {
      const out = join(folder, name);
      const words = ['predict', input, '--model', 'teaching', '--devices', 'cpu:1', '--python', REAL_PYTHON];
      const { code, said } = await ended(virnucpro([...words, '-o', out, ...flags]));
      expect(code, said).toBe(0);
      return (file: string) => readFileSync(join(out, file), 'utf8');
    };
    const plain = await run('plain');
    const controlled = await run('controlled', '--with-controls');
    expect(JSON.parse(controlled('run.json'))).toMatchObject({
      controls: [{ kind: 'cpu', precision: 'fp32', quick: true, verdict: 'works', viral: { scored: 20 } }],
      counts: { records: 2 },
    });
    for (const table of ['sequences.tsv', 'chunks.tsv', 'viral_sequences.fna'])
      expect(controlled(table)).toBe(plain(table));
  },
);
