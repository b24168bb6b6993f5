import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APP_PATHS, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { readTables, temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, succeeds, virnucpro, waitUntil, type Ending } from './testing/commandLineProcess.ts';

const PRIVATE_SLURM = join(APP_PATHS.root, 'python-backend', 'tests', 'cluster', 'private_slurm.py');
const COPIES = 6;
/** For what must happen, however busy the computer is. */
const PATIENCE_MS = 1_200_000;
/** The exit code with which private_slurm.py says that SLURM can't run here. */
const CANT_BE_HERE = 3;

describe.skipIf(WITHOUT_PYTHON)('predict through a real SLURM', () => {
  let slurm: ChildProcess | undefined;
  /** The environment for SLURM's programs, and for `virnucpro`. */
  let env: Record<string, string> | undefined;
  let missing = '';
  let input = '';
  let local: Record<string, string>;
  const small = ['--model', 'teaching', '--residues-per-part', '800', '--python', REAL_PYTHON, '-q'];

  beforeAll(async () => {
    const started = spawn(REAL_PYTHON, [PRIVATE_SLURM]);
    slurm = started;
    const first = await new Promise<string>((resolve) => {
      let output = '';
      started.stderr.on('data', (data) => (output += String(data)));
      started.stdout.on('data', (data) => resolve(String(data)));
      started.on('close', () => resolve(output));
    });
    if (started.exitCode === CANT_BE_HERE) {
      missing = first.trim();
      return;
    }
    if (!first.startsWith('{')) throw new Error(first);
    env = JSON.parse(first) as Record<string, string>;
    ({ input, local } = await computedHere());
  }, 3_600_000);
  afterAll(async () => {
    if (!slurm || slurm.exitCode !== null) return;
    const closed = new Promise((resolve) => slurm?.on('close', resolve));
    slurm.stdin?.end();
    await closed;
  }, 120_000);

  async function computedHere(): Promise<{ input: string; local: Record<string, string> }> {
    const parent = temporaryFolder();
    const file = join(parent, 'input.fa');
    const sample = readFileSync(SAMPLE, 'utf8');
    const all = Array.from({ length: COPIES }, (_, copy) => sample.replaceAll(/^>/gm, `>copy_${copy}_`));
    writeFileSync(file, all.join(''));
    const here = ['--devices', 'cpu:1', '--precision', 'fp32'];
    await succeeds(['predict', file, '-o', join(parent, 'local'), ...here, ...small]);
    return { input: file, local: await readTables(join(parent, 'local')) };
  }

  const program = async (name: string, ...words: string[]): Promise<string> =>
    (await execa(name, words, { env: env ?? {} })).stdout;
  const queued = async (...words: string[]): Promise<string[]> =>
    (await program('squeue', '--noheader', '--array', ...words)).split('\n').filter(Boolean);

  async function job(tasks: number): Promise<string> {
    const options = [`--array=1-${tasks}`, '--time=30', '--mem=1G', '--cpus-per-task', '1'];
    const script = join(temporaryFolder(), 'job.sh');
    const printed = await succeeds(['slurm-script', '--processors', ...options], {
      env: { VIRNUCPRO_PYTHON: REAL_PYTHON },
    });
    writeFileSync(script, printed);
    return script;
  }

  /** Starts a run; resolves once all its tasks have begun their shares. */
  async function computing(
    folder: string,
    tasks: number,
  ): Promise<{ run: ChildProcess; end: Promise<Ending> }> {
    const words = ['predict', input, '-o', folder, '--slurm', await job(tasks), ...small];
    const run = virnucpro(words, { env: env ?? {} });
    const end = ended(run);
    const shares = Array.from({ length: tasks }, (_, place) =>
      join(folder, 'shares', `${place + 1}-of-${tasks}`),
    );
    await waitUntil(
      () => run.exitCode !== null || shares.every((share) => existsSync(join(share, 'status.json'))),
      'all tasks compute',
      PATIENCE_MS,
    );
    return { run, end };
  }

  it('writes the tables of a local run, although a node fails, tasks are requeued and run out of time, and the program is killed', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const folder = join(temporaryFolder(), 'a run on β');
    const { run, end } = await computing(folder, 3);
    const tasks = await queued('--states=RUNNING', '-o', '%i %N');
    const [failing = '', requeued = '', timed = ''] = tasks;
    const [, node = ''] = failing.split(' ');
    // It comes back by itself (ReturnToService).
    await program('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test');
    await program('scontrol', 'requeue', requeued.split(' ')[0] ?? '');
    // What SLURM sends before the time of a task ends.
    await program('scancel', '--batch', '--signal=USR1', timed.split(' ')[0] ?? '');
    run.kill('SIGKILL');
    expect((await end).code).toBeNull();

    await succeeds(['resume', folder, '--python', REAL_PYTHON, '-q'], { env: env ?? {} });
    expect(await readTables(folder)).toEqual(local);
    expect(await queued()).toEqual([]);
    // Everything was queued again by SLURM.
    const jobs = new Set(await queued('--states=all', '-o', '%F'));
    expect(jobs.size, readFileSync(join(folder, 'logs', 'run.log'), 'utf8')).toBe(1);
  }, 3_600_000);

  it('is paused by a person who cancels its tasks, and stays so until it is resumed', async ({ skip }) => {
    skip(env === undefined, missing);
    const folder = join(temporaryFolder(), 'run');
    const { end } = await computing(folder, 2);
    await program('scancel', ...(await queued('-o', '%i')));
    const { code, output } = await end;
    expect(code, output).toBe(1);
    expect(output).toMatch(/shares 1\/2, 2\/2 were computed: cancelled/);
    expect(await queued()).toEqual([]);
    const { code: early, output: lacks } = await ended(
      virnucpro(['finish', folder, '--python', REAL_PYTHON, '-q']),
    );
    expect(early, lacks).toBe(1);
    expect(lacks).toMatch(/Missing: shares 1\/2, 2\/2/);

    await succeeds(['resume', folder, '--python', REAL_PYTHON, '-q'], { env: env ?? {} });
    expect(await readTables(folder)).toEqual(local);
  }, 3_600_000);

  it('computes shares that are submitted by hand, and reports at once what can never start', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const folder = join(temporaryFolder(), 'by hand');
    await succeeds(['prepare', input, '-o', folder, '--processors', ...small]);
    // The nodes find no virnucpro in their PATH.
    const logs = temporaryFolder();
    const words = ['--wait', `--output=${join(logs, '%a')}`, await job(3), folder];
    await program('sbatch', ...words).catch((cause: unknown) => {
      const said = readdirSync(logs).map((log) => readFileSync(join(logs, log), 'utf8'));
      throw new Error(said.join('\n'), { cause });
    });
    await succeeds(['finish', folder, '--python', REAL_PYTHON, '-q'], { env: env ?? {} });
    expect(await readTables(folder)).toEqual(local);

    const never = await job(1);
    writeFileSync(never, readFileSync(never, 'utf8').replace('#SBATCH --mem=1G', '#SBATCH --mem=900G'));
    const asked = ['predict', input, '-o', `${folder}-never`, '--slurm', never, ...small];
    const { code, output } = await ended(virnucpro(asked, { env: env ?? {} }));
    expect(code).toBe(1);
    expect(output).toMatch(/configuration is not available/);
  }, 3_600_000);
});
