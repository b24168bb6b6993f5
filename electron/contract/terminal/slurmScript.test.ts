import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { slurmPlace, slurmScript } from './slurmScript.ts';

const script = (onProcessors = false): string =>
  slurmScript(['--array=1-8%2', '--mem=1G'], onProcessors, ['program']);

describe('the batch script', () => {
  it('asks SLURM for one task that it signals in time, requeues, and whose log it continues', () => {
    expect(
      script()
        .split('\n')
        .filter((line) => /^#(!|SBATCH)/.test(line)),
    ).toEqual([
      '#!/bin/bash -l',
      '#SBATCH --array=1-8%2',
      '#SBATCH --mem=1G',
      '#SBATCH --job-name=virnucpro',
      '#SBATCH --nodes=1',
      '#SBATCH --ntasks=1',
      '#SBATCH --signal=B:USR1@90',
      '#SBATCH --requeue',
      '#SBATCH --open-mode=append',
    ]);
  });

  it('shows into how many shares it divides a run, also after manual changes', () => {
    expect(slurmPlace(script())).toEqual({
      ...{ kind: 'slurm', script: script(), shares: 8, on_processors: false },
    });
    expect(slurmPlace(script(true))).toMatchObject({ on_processors: true });
    const counts = [
      '#SBATCH --array=1-20%2',
      '#SBATCH -a 1-6',
      '#SBATCH\t-a1-7 ',
      '#SBATCH --array=1-5\n\n#SBATCH --array=1-10000',
      '##SBATCH --array=1-9\n#SBATCH --array 1-3\n# SBATCH --array=1-9',
    ].map((line) => slurmPlace(`#!/bin/bash\n${line}\n`)?.shares);
    expect(counts).toEqual([20, 6, 7, 10_000, 3]);
    for (const array of ['0-7', '1,3', '1-8:2', 'x', '1-0', '1-10001', '0,1', '11', '1-4 --mem=1G'])
      expect(slurmPlace(`#!/bin/bash\n#SBATCH --array=${array} \n`), array).toBeNull();
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
    return spawnSync('bash', ['-s', run(), '8'], {
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
    const waiting = (status: number, signal = 'USR1'): string =>
      `trap "echo stopped; exit ${status}" TERM\nkill -${signal} $PPID\nfor _ in $(seq 100); do sleep 0.05; done\n`;
    // It must work however slowly the script reaches its next line.
    for (const slowly of ['', "trap 'sleep 0.1' DEBUG\n"]) {
      const signalled = submit(slowly + script(true), waiting(143));
      expect([signalled.stdout, signalled.status]).toEqual(['stopped\nscontrol requeue 42_3\n', 143]);
    }
    expect(submit(script(), waiting(0)).stdout).toBe('stopped\n');
    // SLURM takes the task away, and requeues it itself if it has to.
    const taken = submit(script(), waiting(143, 'TERM'));
    expect([taken.stdout, taken.status]).toEqual(['stopped\n', 143]);
    const ended = submit(script(), 'exit 3\n');
    expect([ended.stdout, ended.status]).toEqual(['', 3]);
  });

  it('reports a missing folder argument', () => {
    const { status, stderr } = spawnSync('bash', ['-s'], { input: script(), encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('sbatch SCRIPT RUN');
  });
});
