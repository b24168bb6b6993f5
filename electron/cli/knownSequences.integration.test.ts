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

    // A calibration is a run, and must not take the folder of another one.
    const other = join(folder, 'other.fa');
    writeFileSync(other, `>three\n${'ATGGGTACCAAACGTTTC'.repeat(30)}\n`);
    const words = ['calibrate', '--viral', input, '--other', other, '--model', 'teaching', '-d', 'cpu:1'];
    const refused = await ended(virnucpro([...words, '-o', join(folder, 'plain'), '--python', REAL_PYTHON]));
    expect(refused.code).toBe(1);
    expect(refused.said).toContain('already holds a run');
    expect(JSON.parse(plain('run.json'))).toMatchObject({ counts: { records: 2 } });
  },
);
