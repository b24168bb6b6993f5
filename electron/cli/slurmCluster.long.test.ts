import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SLURM_JOB_DEFAULTS, slurmScript } from '../contract/terminal/slurmScript.ts';
import { APP_PATHS, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { readTables, temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

const BACKEND = join(APP_PATHS.root, 'python-backend');
const TESTS = join(BACKEND, 'tests', 'cluster');
const COPIES = 6;
/** Of private_slurm.py, and what it prints. */
const CANT_BE_HERE = 3;
interface PrivateSlurm {
  environment: Record<string, string>;
  login: { name: string; environment: Record<string, string> } | null;
}

it.skipIf(WITHOUT_PYTHON)(
  'a real SLURM gives the scores of a local worker, with a task cancelled, one killed, a node drained and time ended',
  async ({ skip }) => {
    const script = join(await temporaryFolder(), 'job.sh');
    const job = { ...SLURM_JOB_DEFAULTS, gpu: 'none', tasks: 3, time: '4', memory: '1G', cpus: 1 } as const;
    writeFileSync(script, slurmScript(job) ?? '');
    const { all, exitCode } = await execa(
      REAL_PYTHON,
      ['-m', 'pytest', '-q', '-rs', '-p', 'no:cacheprovider', join(TESTS, 'real_slurm.py')],
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
  },
  1_300_000,
);

describe.skipIf(WITHOUT_PYTHON)('predict through a real SLURM', () => {
  let slurm: ChildProcess | undefined;
  /** Of the programs of SLURM, and of `virnucpro`, which reaches them as `by` says. */
  let env: Record<string, string> | undefined;
  let ours: Record<string, string>;
  let by: string[] = [];
  let missing = '';
  beforeAll(async () => {
    const started = spawn(REAL_PYTHON, [join(TESTS, 'private_slurm.py')]);
    slurm = started;
    const first = await new Promise<string>((resolve) => {
      let said = '';
      started.stderr.on('data', (data) => (said += String(data)));
      started.stdout.on('data', (data) => resolve(String(data)));
      started.on('close', () => resolve(said));
    });
    if (started.exitCode === CANT_BE_HERE) missing = first.trim();
    else if (!first.startsWith('{')) throw new Error(first);
    else {
      const { environment, login } = JSON.parse(first) as PrivateSlurm;
      env = environment;
      ours = login?.environment ?? environment;
      by = login ? ['--slurm-login', login.name] : [];
    }
  }, 300_000);
  afterAll(async () => {
    if (!slurm || slurm.exitCode !== null) return;
    const closed = new Promise((resolve) => slurm?.on('close', resolve));
    slurm.stdin?.end();
    await closed;
  }, 120_000);

  // By ssh where there is an OpenSSH server, else by the programs of this computer.
  it('writes the tables of a local run, though a task is cancelled, a node drained and the program killed', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const parent = await temporaryFolder();
    const [input, local, folder] = ['input.fa', 'local', 'a run on β'].map((name) => join(parent, name)) as [
      string,
      string,
      string,
    ];
    const sample = readFileSync(SAMPLE, 'utf8');
    const copies = Array.from({ length: COPIES }, (_, copy) => sample.replaceAll(/^>/gm, `>copy_${copy}_`));
    writeFileSync(input, copies.join(''));
    const small = ['--model', 'demo', '--residues-per-part', '800', '--python', REAL_PYTHON, '-q'];
    await succeeds(['predict', input, '-o', local, '--devices', 'cpu:2', ...small]);

    const job = ['--gpu', 'none', '--tasks', '3', '--time', '30', '--memory', '1G', '--cpus', '1'];
    const script = join(parent, 'job.sh');
    writeFileSync(script, await succeeds(['slurm-script', ...job]));
    const begun = virnucpro(['predict', input, '-o', folder, '--slurm', script, ...by, ...small], {
      env: ours,
    });
    const beginning = ended(begun);
    const scores = join(folder, 'work', 'scores');
    const scored = (): number => (existsSync(scores) ? readdirSync(scores).length : 0);
    const program = async (name: string, ...words: string[]): Promise<void> => {
      await execa(name, words, { env: env ?? {} });
    };
    await waitUntil(() => scored() > 10 || begun.exitCode !== null, 'parts are scored', 300_000);
    const { jobs } = JSON.parse(readFileSync(join(folder, 'work', 'pool', 'jobs.json'), 'utf8')) as {
      jobs: string[];
    };
    await program('scontrol', 'update', 'nodename=node2', 'state=drain', 'reason=test');
    await program('scancel', `${jobs[0]}_0`);
    const before = scored();
    await waitUntil(() => scored() > before + 10 || begun.exitCode !== null, 'more are scored', 300_000);
    begun.kill('SIGKILL');
    expect((await beginning).code).toBeNull();

    await succeeds(['resume', folder, '--python', REAL_PYTHON, '-q'], { env: ours });
    expect(await readTables(folder)).toEqual(await readTables(local));
    const log = readFileSync(join(folder, 'logs', 'pool.log'), 'utf8');
    expect(log).toContain(`job ${jobs[0]} is taken over`);
    await waitUntil(() => !existsSync(join(folder, 'work', 'pool', 'tasks')), 'nothing is lent any more');
  }, 900_000);
});
