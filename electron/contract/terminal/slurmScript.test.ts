import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  SLURM_JOB_DEFAULTS,
  slurmJobProblems,
  slurmPlace,
  slurmScript,
  slurmTasks,
  type SlurmJob,
} from './slurmScript.ts';

const job = (changes: Partial<SlurmJob> = {}): SlurmJob => ({ ...SLURM_JOB_DEFAULTS, ...changes });
const text = (changes: Partial<SlurmJob> = {}): string => slurmScript(job(changes)) ?? '';

describe('the batch script', () => {
  it('asks for what was chosen, and leaves the rest to the cluster', () => {
    const script = text({
      partition: 'gpu,gpu-long',
      account: 'lab.7',
      qos: 'high',
      gpu: 'gres',
      gpuType: 'a100',
      tasks: 8,
      mostAtOnce: 2,
      time: '1-12:00:00',
      modules: ' cuda/12.4  gcc ',
      extra: 'export MINE=1\n  #SBATCH --constraint=ib\n\necho hello',
    });
    const options = script.split('\n').filter((line) => line.startsWith('#SBATCH'));
    expect(options).toEqual([
      '#SBATCH --job-name=virnucpro',
      '#SBATCH --array=0-7%2',
      '#SBATCH --nodes=1',
      '#SBATCH --ntasks=1',
      '#SBATCH --partition=gpu,gpu-long',
      '#SBATCH --account=lab.7',
      '#SBATCH --qos=high',
      '#SBATCH --gres=gpu:a100:1',
      '#SBATCH --cpus-per-task=4',
      '#SBATCH --mem=32G',
      '#SBATCH --time=1-12:00:00',
      '#SBATCH --signal=B:USR1@90',
      '#SBATCH --requeue',
      '#SBATCH --open-mode=append',
      '#SBATCH --constraint=ib',
    ]);
    const commands = script.split('\n');
    const places = ['module load cuda/12.4 gcc', 'export MINE=1', 'echo hello', 'sh "$pool/task" "$pool" &'];
    expect(places.map((line) => commands.indexOf(line))).toEqual(
      places.map((line) => commands.indexOf(line)).toSorted((a, b) => a - b),
    );
    expect(commands).toEqual(expect.arrayContaining(places));

    const bare = text({ gpu: 'none', cpus: null, memory: '', time: '' });
    expect(bare).not.toMatch(/--(partition|account|qos|gres|gpus|cpus-per-task|mem|time)=/);
    expect(bare).toContain('--processors "$pool"');
    expect(text({ gpu: 'gpus' })).toContain('#SBATCH --gpus=1\n');
  });

  it('starts in a container where one is chosen', () => {
    expect(
      text({ container: 'apptainer', image: '/images/my torch.sif', python: '/opt/py/bin/python' }),
    ).toMatch(
      /export VIRNUCPRO_PYTHON=\/opt\/py\/bin\/python\n[^]*\napptainer exec --nv --bind "\$pool\/..\/.." '\/images\/my torch.sif' sh "\$pool\/task" "\$pool" &/,
    );
  });

  it('says how many workers it asks for, also after it was changed by hand', () => {
    expect(slurmTasks(text({ tasks: 8, mostAtOnce: 2 }))).toEqual({ tasks: 8, on_processors: false });
    expect(slurmTasks(text({ tasks: 3, gpu: 'none' }))).toEqual({ tasks: 3, on_processors: true });
    const counts = ['#SBATCH --array=1,3,10-20:5%2', '#SBATCH -a 4-6', '#SBATCH --array 7', 'echo'].map(
      (line) => slurmTasks(`#!/bin/bash\n${line}\n`)?.tasks,
    );
    expect(counts).toEqual([5, 3, 1, 1]);
    for (const array of ['5-1', '0-3:0', 'x', '0-99999']) {
      expect(slurmTasks(`#!/bin/bash\n#SBATCH --array=${array} \n`), array).toBeNull();
    }
    const place = slurmPlace(job({ tasks: 2 }), { login: 'me@login', bySelf: false });
    expect(place).toEqual({
      kind: 'slurm',
      login: 'me@login',
      ...slurmTasks(place?.script ?? ''),
      script: text({ tasks: 2 }),
    });
    expect(slurmPlace(job(), { login: 'me@login', bySelf: true })).toMatchObject({
      script: null,
      login: null,
    });
    expect(slurmPlace(job({ tasks: 0 }), { login: null, bySelf: true })).toBeNull();
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
    ['python', { python: '/usr/bin/python\nrm' }],
    ['extra', { extra: 'echo \u0000' }],
  ])('is none where %s is not as it must be: %j', (field, changes) => {
    expect(slurmJobProblems(job(changes))).toEqual([field]);
    expect(slurmScript(job(changes))).toBeNull();
  });
});

describe.skipIf(process.platform === 'win32')('in a shell', () => {
  let folder = '';
  const pool = () => join(folder, "a pool's $folder");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'slurm-script-'));
    mkdirSync(pool());
    writeFileSync(join(folder, 'scontrol'), '#!/bin/sh\necho "scontrol $*"\nexit 1\n');
    chmodSync(join(folder, 'scontrol'), 0o755);
    writeFileSync(join(folder, 'apptainer'), '#!/bin/sh\nprintf "image %s\\n" "$5"\nshift 5\nexec "$@"\n');
    chmodSync(join(folder, 'apptainer'), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Without the user's own start files, which a cluster's modules come from. */
  const run = (script: string, task: string) => {
    writeFileSync(join(pool(), 'task'), task);
    return spawnSync('bash', ['-s', pool()], {
      input: script,
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        ...process.env,
        PATH: `${folder}:${process.env['PATH']}`,
        SLURM_ARRAY_JOB_ID: '42',
        SLURM_ARRAY_TASK_ID: '3',
      },
    });
  };

  it('text that was typed in reaches a program as it is, whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: fc.constantFrom(...Array.from('a \'"$`\\;&|<>*?()#!~{}-β')) }),
        (typed) => {
          const script = text({ container: 'apptainer', image: `x${typed}x`, python: typed });
          const { stdout } = run(script, 'printf "<%s>" "$VIRNUCPRO_PYTHON" "$@"\n');
          expect(stdout).toBe(`image x${typed}x\n<${typed}><${pool()}>`);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('hands signals on, and asks to be queued again only where the task says so', () => {
    const waiting = 'trap "echo signalled; exit 75" USR1\nkill -USR1 $PPID\nwhile :; do sleep 0.05; done\n';
    // However late the script is with its next line.
    for (const slowly of ['', "trap 'sleep 0.1' DEBUG\n"]) {
      const signalled = run(slowly + text({ gpu: 'none' }), waiting);
      expect(signalled.stdout).toBe('signalled\nscontrol requeue 42_3\n');
      expect(signalled.status).toBe(75);
    }
    const ended = run(text({ gpu: 'none' }), 'exit 3\n');
    expect([ended.stdout, ended.status]).toEqual(['', 3]);
  });

  it('says what is missing where no folder is given', () => {
    const { status, stderr } = spawnSync('bash', ['-s'], { input: text(), encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('sbatch SCRIPT FOLDER');
  });

  it('has the exit code that a task gives when its time ends', () => {
    const source = readFileSync(
      join(import.meta.dirname, '../../../python-backend/src/virnucpro_backend/cluster/node_task.py'),
      'utf8',
    );
    expect(text()).toContain(`-eq ${/^REQUEUE_EXIT_CODE = (\d+)$/m.exec(source)?.[1]} ]`);
  });
});
