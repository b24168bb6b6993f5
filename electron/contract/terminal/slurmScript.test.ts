import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  SLURM_JOB_DEFAULTS,
  slurmJobProblems,
  shortTime,
  shortTimeOf,
  slurmPlace,
  slurmScript,
  slurmShares,
  type SlurmJob,
} from './slurmScript.ts';

const job = (changes: Partial<SlurmJob> = {}): SlurmJob => ({ ...SLURM_JOB_DEFAULTS, ...changes });
const text = (changes: Partial<SlurmJob> = {}): string => slurmScript(job(changes)) ?? '';

describe('the batch script', () => {
  it.each([
    ['2', 2],
    ['9:59', 9],
    ['0:05:00', 5],
    ['0-0:03', 3],
    ['10', null],
    ['0', null],
    ['1:00:00', null],
    ['1-0', null],
    ['soon', null],
  ])('recognises a time limit of %s as too short: %j minutes', (limit, minutes) => {
    expect(shortTime(limit)).toBe(minutes);
    expect(shortTimeOf(`#!/bin/bash\n#SBATCH --time=${limit}\n`)).toBe(minutes);
  });

  it('requests what was chosen, and leaves the rest to the cluster', () => {
    const script = text({
      partition: 'gpu,gpu-long',
      account: 'lab.7',
      qos: 'high',
      gpu: 'gres',
      gpuType: 'a100',
      gpusPerTask: 4,
      tasks: 8,
      mostAtOnce: 2,
      time: '1-12:00:00',
      modules: ' cuda/12.4  gcc ',
      extra: 'export MINE=1\n  #SBATCH --constraint=ib\n\necho hello',
    });
    const options = script.split('\n').filter((line) => line.startsWith('#SBATCH'));
    expect(options).toEqual([
      '#SBATCH --job-name=virnucpro',
      '#SBATCH --array=1-8%2',
      '#SBATCH --nodes=1',
      '#SBATCH --ntasks=1',
      '#SBATCH --partition=gpu,gpu-long',
      '#SBATCH --account=lab.7',
      '#SBATCH --qos=high',
      '#SBATCH --gres=gpu:a100:4',
      '#SBATCH --cpus-per-task=4',
      '#SBATCH --mem=32G',
      '#SBATCH --time=1-12:00:00',
      '#SBATCH --signal=B:USR1@90',
      '#SBATCH --requeue',
      '#SBATCH --open-mode=append',
      '#SBATCH --constraint=ib',
    ]);
    const commands = script.split('\n');
    const places = [
      'module load cuda/12.4 gcc',
      'export MINE=1',
      'echo hello',
      '"$program" compute "$run" --share "$share" &',
    ];
    expect(places.map((line) => commands.indexOf(line))).toEqual(
      places.map((line) => commands.indexOf(line)).toSorted((a, b) => a - b),
    );
    expect(commands).toEqual(expect.arrayContaining(places));

    const bare = text({ gpu: 'none', cpus: null, memory: '', time: '' });
    expect(bare).not.toMatch(/--(partition|account|qos|gres|gpus|cpus-per-task|mem|time)=/);
    expect(bare).toContain(' --devices "cpu:${SLURM_CPUS_PER_TASK:-1}" &');
    expect(text({ gpu: 'gpus' })).toContain('#SBATCH --gpus=1\n');
  });

  it('starts in a container if one is chosen', () => {
    expect(
      text({ container: 'apptainer', image: '/images/my torch.sif', program: '/opt/virnucpro' }),
    ).toMatch(
      /program=\/opt\/virnucpro\n[^]*\napptainer exec --nv --bind "\$run" '\/images\/my torch.sif' "\$program" compute/,
    );
  });

  it('shows into how many shares it divides a run, also after manual changes', () => {
    expect(slurmShares(text({ tasks: 8, mostAtOnce: 2 }))).toEqual({ shares: 8, on_processors: false });
    expect(slurmShares(text({ tasks: 3, gpu: 'none' }))).toEqual({ shares: 3, on_processors: true });
    const counts = ['#SBATCH --array=1-20%2', '#SBATCH -a 1-6', '#SBATCH --array 1', 'echo'].map(
      (line) => slurmShares(`#!/bin/bash\n${line}\n`)?.shares,
    );
    expect(counts).toEqual([20, 6, 1, 1]);
    for (const array of ['0-7', '1,3', '1-8:2', 'x', '1-99999'])
      expect(slurmShares(`#!/bin/bash\n#SBATCH --array=${array} \n`), array).toBeNull();
    const place = slurmPlace(job({ tasks: 2 }), 'me@login');
    expect(place).toEqual({
      kind: 'slurm',
      login: 'me@login',
      ...slurmShares(place?.script ?? ''),
      script: text({ tasks: 2 }),
    });
    expect(slurmPlace(job({ tasks: 0 }), null)).toBeNull();
  });

  it.each<[keyof SlurmJob, Partial<SlurmJob>]>([
    ['partition', { partition: 'gpu\n#SBATCH --uid=0' }],
    ['partition', { partition: 'gpu --uid=0' }],
    ['account', { account: 'a;b' }],
    ['qos', { qos: '$(id)' }],
    ['gpuType', { gpuType: 'a100:4,mps:1' }],
    ['cpus', { cpus: 0 }],
    ['memory', { memory: '32 GB' }],
    ['time', { time: 'tomorrow' }],
    ['tasks', { tasks: 0 }],
    ['tasks', { tasks: 2.5 }],
    ['mostAtOnce', { mostAtOnce: -1 }],
    ['modules', { modules: 'cuda; rm -rf ~' }],
    ['modules', { modules: 'cuda $(id)' }],
    ['image', { container: 'singularity', image: '' }],
    ['image', { container: 'singularity', image: 'a\nb' }],
    ['gpusPerTask', { gpusPerTask: 0 }],
    ['program', { program: '/usr/bin/virnucpro\nrm' }],
    ['extra', { extra: 'echo \u0000' }],
  ])('is null if %s is invalid: %j', (field, changes) => {
    expect(slurmJobProblems(job(changes))).toEqual([field]);
    expect(slurmScript(job(changes))).toBeNull();
  });
});

describe.skipIf(process.platform === 'win32')('in a shell', () => {
  let folder = '';
  const run = () => join(folder, "a run's $folder");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'slurm-script-'));
    mkdirSync(run());
    const programs = {
      scontrol: 'echo "scontrol $*"\nexit 1\n',
      apptainer: 'printf "image %s\\n" "$5"\nshift 5\nexec printf "<%s>" "$@"\n',
    };
    for (const [name, text] of Object.entries(programs)) writeProgram(join(folder, name), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const writeProgram = (path: string, text: string): void => {
    writeFileSync(path, `#!/bin/sh\n${text}`);
    chmodSync(path, 0o755);
  };

  /** The user's own start files, which load a cluster's modules, are not read. */
  const submit = (script: string, program = 'echo "$@"\n') => {
    writeProgram(join(folder, 'program'), program);
    return spawnSync('bash', ['-s', run(), join(folder, 'program'), '8'], {
      input: script,
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
    expect(submit(text()).stdout).toBe(`compute ${run()} --share 3/8\n`);
  });

  it('passes typed text to a program unchanged, whatever characters it contains', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: fc.constantFrom(...Array.from('a \'"$`\\;&|<>*?()#!~{}-β')) }),
        (typed) => {
          const script = text({ container: 'apptainer', image: `x${typed}x`, program: `x${typed}x` });
          const { stdout } = submit(script);
          expect(stdout).toBe(`image x${typed}x\n<x${typed}x><compute><${run()}><--share><3/8>`);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('stops the program before the time limit, and requeues itself if work is left', () => {
    const waiting = (status: number): string =>
      `trap "echo stopped; exit ${status}" TERM\nkill -USR1 $PPID\nwhile :; do sleep 0.05; done\n`;
    // It must work however slowly the script reaches its next line.
    for (const slowly of ['', "trap 'sleep 0.1' DEBUG\n"]) {
      const signalled = submit(slowly + text({ gpu: 'none' }), waiting(143));
      expect([signalled.stdout, signalled.status]).toEqual(['stopped\nscontrol requeue 42_3\n', 143]);
    }
    expect(submit(text(), waiting(0)).stdout).toBe('stopped\n');
    const ended = submit(text(), 'exit 3\n');
    expect([ended.stdout, ended.status]).toEqual(['', 3]);
  });

  it('reports a missing folder argument', () => {
    const { status, stderr } = spawnSync('bash', ['-s'], { input: text(), encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('sbatch SCRIPT RUN');
  });
});
