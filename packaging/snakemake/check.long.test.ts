import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { MAIN } from '../../electron/cli/testing/commandLineProcess.ts';
import { REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../../electron/engine/testing/realFiles.ts';
import { temporaryFolder } from '../../electron/engine/testing/testContext.ts';

const SAMPLES = 40;
const WITHOUT_SNAKEMAKE = spawnSync('snakemake', ['--version']).status !== 0;

it('computes 40 samples by Snakemake, one run each and one run in shares', async ({ skip }) => {
  skip(
    Boolean(WITHOUT_PYTHON) || WITHOUT_SNAKEMAKE,
    'there is no snakemake in the PATH (pip install snakemake)',
  );
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'virnucpro'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  const words = [join(import.meta.dirname, 'check.py'), join(folder, 'checked'), SAMPLE, String(SAMPLES)];
  const env = { VIRNUCPRO_PYTHON: REAL_PYTHON, PATH: `${bin}:${process.env['PATH']}` };
  const { stdout } = await execa(REAL_PYTHON, words, { env });
  expect(stdout).not.toContain('FAIL');
}, 3_600_000);
