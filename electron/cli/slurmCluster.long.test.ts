import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APP_PATHS, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../engine/testing/realFiles.ts';
import { readTables, temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, MAIN, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

const PRIVATE_SLURM = join(APP_PATHS.root, 'python-backend', 'tests', 'cluster', 'private_slurm.py');
const COPIES = 6;
const LONG_COPIES = 120;
const PATIENCE_MS = 300_000;
/** The exit code with which private_slurm.py says that SLURM can't run here. */
const CANT_BE_HERE = 3;
interface PrivateSlurm {
  environment: Record<string, string>;
  login: { name: string; environment: Record<string, string> } | null;
}

describe.skipIf(WITHOUT_PYTHON)('predict through a real SLURM', () => {
  let slurm: ChildProcess | undefined;
  /** The environment for SLURM's programs, and for `virnucpro`, which reaches them as `by` says. */
  let env: Record<string, string> | undefined;
  let ours: Record<string, string>;
  let by: string[] = [];
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
    const { environment, login } = JSON.parse(first) as PrivateSlurm;
    env = environment;
    ours = login?.environment ?? environment;
    by = login ? ['--slurm-login', login.name] : [];
    ({ input, local } = await computedHere(COPIES));
  }, 600_000);
  afterAll(async () => {
    if (!slurm || slurm.exitCode !== null) return;
    const closed = new Promise((resolve) => slurm?.on('close', resolve));
    slurm.stdin?.end();
    await closed;
  }, 120_000);

  async function computedHere(copies: number): Promise<{ input: string; local: Record<string, string> }> {
    const parent = await temporaryFolder();
    const file = join(parent, 'input.fa');
    const sample = readFileSync(SAMPLE, 'utf8');
    const all = Array.from({ length: copies }, (_, copy) => sample.replaceAll(/^>/gm, `>copy_${copy}_`));
    writeFileSync(file, all.join(''));
    const here = ['--devices', 'cpu:1', '--precision', 'fp32'];
    await succeeds(['predict', file, '-o', join(parent, 'local'), ...here, ...small]);
    return { input: file, local: await readTables(join(parent, 'local')) };
  }

  const program = async (name: string, ...words: string[]): Promise<string> =>
    (await execa(name, words, { env: env ?? {} })).stdout;
  const running = async (): Promise<string[]> =>
    (await program('squeue', '--noheader', '--array', '--states=RUNNING', '-o', '%i'))
      .split('\n')
      .filter(Boolean);

  function scoredParts(run: string, share: number, of: number): number {
    const scores = join(run, 'shares', `${share}-of-${of}`, 'work', 'scores');
    return existsSync(scores) ? readdirSync(scores).length : 0;
  }

  async function job(tasks: number, time: string): Promise<string> {
    const options = [`--array=1-${tasks}`, `--time=${time}`, '--mem=1G', '--cpus-per-task', '1'];
    const script = join(await temporaryFolder(), 'job.sh');
    writeFileSync(script, await succeeds(['slurm-script', '--processors', ...options]));
    return script;
  }

  // It uses ssh if there is an OpenSSH server, else the programs of this computer.
  it('writes the tables of a local run, although tasks are cancelled, requeued and killed, a node is drained and the program is killed', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const folder = join(await temporaryFolder(), 'a run on β');
    const begun = virnucpro(
      ['predict', input, '-o', folder, '--slurm', await job(5, '30'), ...by, ...small],
      {
        env: ours,
      },
    );
    const beginning = ended(begun);
    const parts = (): number =>
      [1, 2, 3, 4, 5].reduce((sum, share) => sum + scoredParts(folder, share, 5), 0);
    await waitUntil(() => parts() > 5 || begun.exitCode !== null, 'parts are scored', PATIENCE_MS);
    const [cancelled = '', requeued = ''] = await running();
    await program('scontrol', 'update', 'nodename=node2', 'state=drain', 'reason=test');
    await program('scancel', cancelled);
    if (requeued) await program('scontrol', 'requeue', requeued);
    begun.kill('SIGKILL');
    expect((await beginning).code).toBeNull();

    await succeeds(['resume', folder, '--python', REAL_PYTHON, '-q'], { env: ours });
    expect(await readTables(folder)).toEqual(local);
    const log = readFileSync(join(folder, 'logs', 'run.log'), 'utf8');
    expect(log).toMatch(/Share \d\/5 ended on .*CANCELLED/);
    expect(await program('squeue', '--noheader')).toBe('');
    await program('scontrol', 'update', 'nodename=node2', 'state=resume');
  }, 900_000);

  it('writes the tables of a local run, although one node fails every task, and tasks are preempted and run out of time', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const long = await computedHere(LONG_COPIES);
    const folder = join(await temporaryFolder(), 'run');
    const script = await job(4, '30');
    const modules = '# Load modules here, if the nodes need any.';
    const broken = 'if [ "$SLURMD_NODENAME" = node1 ]; then echo "no such module" >&2; exit 3; fi';
    writeFileSync(script, readFileSync(script, 'utf8').replace(modules, broken));
    const run = virnucpro(['predict', long.input, '-o', folder, '--slurm', script, ...by, ...small], {
      env: ours,
    });
    const end = ended(run);
    await waitUntil(
      () =>
        run.exitCode !== null || [1, 2, 3, 4].filter((share) => scoredParts(folder, share, 4) > 0).length > 1,
      'two tasks compute',
      PATIENCE_MS,
    );
    const [timed = '', preempted = ''] = await running();
    // What SLURM sends before the time of a task ends.
    await program('scancel', '--batch', '--signal=USR1', timed);
    const node = await program('squeue', '--noheader', `--job=${preempted}`, '-o', '%N');
    await program(
      'sbatch',
      '--partition=urgent',
      `--nodelist=${node}`,
      '--output=/dev/null',
      '--wrap',
      'sleep 5',
    );
    const restarts = async (task: string): Promise<string> =>
      program('squeue', '--noheader', '--array', '--states=all', `--job=${task}`, '-O', 'RestartCnt');
    for (const task of [timed, preempted])
      await expect.poll(async () => Number(await restarts(task)), { timeout: PATIENCE_MS }).toBe(1);
    expect((await end).code).toBe(0);
    expect(await readTables(folder)).toEqual(long.local);
    const db = new Database(join(folder, 'run.db'), { readonly: true });
    const codes = db.prepare<[], string>('SELECT code FROM event').pluck().all();
    db.close();
    expect(codes).toContain('node_excluded');
  }, 900_000);

  it('computes shares that are submitted by hand, and reports at once what can never start', async ({
    skip,
  }) => {
    skip(env === undefined, missing);
    const folder = join(await temporaryFolder(), 'by hand');
    const options = [
      '--processors',
      '--model',
      'teaching',
      '--residues-per-part',
      '800',
      '--python',
      REAL_PYTHON,
      '-q',
    ];
    await succeeds(['prepare', input, '-o', folder, ...options]);
    // The `virnucpro` that a user has in the PATH.
    const own = join(await temporaryFolder(), 'virnucpro');
    writeFileSync(own, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@" --python '${REAL_PYTHON}'\n`, {
      mode: 0o755,
    });
    await program('sbatch', '--wait', '--output=/dev/null', await job(3, '30'), folder, own);
    await succeeds(['finish', folder, '--python', REAL_PYTHON, '-q'], { env: ours });
    expect(await readTables(folder)).toEqual(local);

    const never = await job(1, '30');
    writeFileSync(never, readFileSync(never, 'utf8').replace('#SBATCH --mem=1G', '#SBATCH --mem=900G'));
    const refused = virnucpro(
      ['predict', input, '-o', join(folder, '..', 'never'), '--slurm', never, ...by, ...small],
      {
        env: ours,
      },
    );
    const { code, output } = await ended(refused);
    expect(code).toBe(1);
    expect(output).toMatch(/configuration is not available/);
  }, 900_000);
});
