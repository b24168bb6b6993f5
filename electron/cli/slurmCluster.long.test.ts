import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { SLURM_JOB_DEFAULTS, slurmScript } from '../contract/slurmScript.ts';
import { APP_PATHS, REAL_PYTHON, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';

const BACKEND = join(APP_PATHS.root, 'python-backend');

describe.skipIf(WITHOUT_PYTHON)('a real SLURM, of three nodes on this computer', () => {
  it('gives the scores of a local worker, with a task cancelled, one killed, a node drained and time ended', async ({
    skip,
  }) => {
    const script = join(await temporaryFolder(), 'job.sh');
    const job = { ...SLURM_JOB_DEFAULTS, gpu: 'none', tasks: 3, time: '4', memory: '1G', cpus: 1 } as const;
    writeFileSync(script, slurmScript(job) ?? '');
    const { all, exitCode } = await execa(
      REAL_PYTHON,
      ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', 'tests/cluster/real_slurm.py'],
      {
        cwd: BACKEND,
        env: { PYTHONPATH: join(BACKEND, 'src'), SLURM_TEST_SCRIPT: script },
        all: true,
        reject: false,
        timeout: 1_200_000,
      },
    );
    const skipped = /SKIPPED .*: (.*)/.exec(all)?.[1];
    skip(skipped !== undefined, skipped);
    expect(exitCode, all.slice(-8_000)).toBe(0);
  }, 1_300_000);
});
