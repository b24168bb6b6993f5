import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmPlace, slurmScript } from './slurmScript.ts';

const script = (onProcessors = false): string => slurmScript(['--array=1-8%2', '--mem=1G'], onProcessors);

describe('the batch script', () => {
  it('shows into how many shares it divides a run, also after manual changes', () => {
    expect(slurmPlace(script(), 'me@login')).toEqual({
      ...{ kind: 'slurm', script: script(), login: 'me@login', shares: 8, on_processors: false },
    });
    expect(slurmPlace(script(true), null)).toMatchObject({ on_processors: true });
    const counts = ['#SBATCH --array=1-20%2', '#SBATCH -a 1-6', '#SBATCH --array 1', 'echo'].map(
      (line) => slurmPlace(`#!/bin/bash\n${line}\n`, null)?.shares,
    );
    expect(counts).toEqual([20, 6, 1, 1]);
    for (const array of ['0-7', '1,3', '1-8:2', 'x', '1-0', '1-99999'])
      expect(slurmPlace(`#!/bin/bash\n#SBATCH --array=${array} \n`, null), array).toBeNull();
  });
});

describe.skipIf(process.platform === 'win32')('in a shell', () => {
  let folder = '';
  const run = () => join(folder, "a run's $folder");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'slurm-script-'));
    mkdirSync(run());
    writeProgram(join(folder, 'scontrol'), 'echo "scontrol $*"\nexit 1\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const writeProgram = (path: string, text: string): void => {
    writeFileSync(path, `#!/bin/sh\n${text}`);
    chmodSync(path, 0o755);
  };

  /** The user's own start files, which load a cluster's modules, are not read. */
  const submit = (input: string, program = 'echo "$@"\n') => {
    writeProgram(join(folder, 'program'), program);
    return spawnSync('bash', ['-s', run(), join(folder, 'program'), '8'], {
      input,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        ...process.env,
        PATH: `${folder}:${process.env['PATH']}`,
        SLURM_ARRAY_JOB_ID: '42',
        SLURM_ARRAY_TASK_ID: '3',
        SLURM_ARRAY_TASK_MAX: '3',
      },
    });
  };

  it('computes the share of its task', () => {
    expect(submit(script()).stdout).toBe(`compute ${run()} --share 3/8\n`);
  });

  it('stops the program before the time limit, and requeues itself if work is left', () => {
    const waiting = (status: number): string =>
      `trap "echo stopped; exit ${status}" TERM\nkill -USR1 $PPID\nwhile :; do sleep 0.05; done\n`;
    // It must work however slowly the script reaches its next line.
    for (const slowly of ['', "trap 'sleep 0.1' DEBUG\n"]) {
      const signalled = submit(slowly + script(true), waiting(143));
      expect([signalled.stdout, signalled.status]).toEqual(['stopped\nscontrol requeue 42_3\n', 143]);
    }
    expect(submit(script(), waiting(0)).stdout).toBe('stopped\n');
    const ended = submit(script(), 'exit 3\n');
    expect([ended.stdout, ended.status]).toEqual(['', 3]);
  });

  it('reports a missing folder argument', () => {
    const { status, stderr } = spawnSync('bash', ['-s'], { input: script(), encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('sbatch SCRIPT RUN');
  });
});
