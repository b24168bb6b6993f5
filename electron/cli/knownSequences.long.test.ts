import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RANDOM_MODEL, REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro } from './testing/commandLineProcess.ts';

it.skipIf(WITHOUT_PYTHON)(
  'stores what controls found before a run, and keeps them out of its results',
  async () => {
    const folder = temporaryFolder();
    const env = { VIRNUCPRO_DATA_DIR: join(folder, 'data') };
    const input = join(folder, 'one.fa');
    writeFileSync(
      input,
      `>one\n${'ATGAAACGTGCAGGCTTA'.repeat(20)}\n>two\n${'ATGCCCGGGTTTAAACGT'.repeat(30)}\n`,
    );
    const run = async (name: string) => {
      const out = join(folder, name);
      const options = ['--devices', 'cpu:1', '--precision', 'fp32', '--python', REAL_PYTHON];
      const words = ['predict', input, '--model', 'teaching', ...options];
      const { code, output } = await ended(virnucpro([...words, '-o', out], { env }));
      expect(code, output).toBe(0);
      return (file: string) => readFileSync(join(out, file), 'utf8');
    };
    const plain = await run('plain');
    const check = ['controls', '--quick', '--model', 'teaching', '--devices', 'cpu:1', '--precision', 'fp32'];
    expect((await ended(virnucpro([...check, '--python', REAL_PYTHON], { env }))).code).toBe(0);
    const controlled = await run('controlled');
    expect(JSON.parse(controlled('run.json'))).toMatchObject({
      controls: [{ kind: 'cpu', precision: 'fp32', quick: true, verdict: 'works', viral: { scored: 20 } }],
      counts: { records: 2 },
    });
    for (const table of ['sequences.tsv', 'chunks.tsv', 'viral_sequences.fna'])
      expect(controlled(table)).toBe(plain(table));

    // A calibration is a run, and must not reuse the folder of another one.
    const other = join(folder, 'other.fa');
    writeFileSync(other, `>three\n${'ATGGGTACCAAACGTTTC'.repeat(30)}\n`);
    const words = ['calibrate', '--viral', input, '--other', other, '--model', 'teaching', '-d', 'cpu:1'];
    const refused = await ended(virnucpro([...words, '-o', join(folder, 'plain'), '--python', REAL_PYTHON]));
    expect(refused.code).toBe(1);
    expect(refused.output).toContain('already holds a run');
    expect(JSON.parse(plain('run.json'))).toMatchObject({ counts: { records: 2 } });
  },
);

it.skipIf(WITHOUT_PYTHON).each([
  ['passes', 0, 'teaching', 'works'],
  ['finds a model that separates nothing', 1, RANDOM_MODEL, 'weak'],
] as const)('controls --quick %s, with exit code %i', async (_, exitCode, model, verdict) => {
  const here = ['--devices', 'cpu:1', '--python', REAL_PYTHON];
  const words = ['controls', '--quick', '--precision', 'fp32', '--model', model, '--json', ...here];
  const { code, output } = await ended(virnucpro(words, { env: { VIRNUCPRO_DATA_DIR: temporaryFolder() } }));
  expect(output).toContain(`"verdict":"${verdict}"`);
  expect(code).toBe(exitCode);
  expect(output).toMatch(/"quick":true.*"group":"viral","sequences":20/);
});
