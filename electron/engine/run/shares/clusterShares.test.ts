import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { RunNotes } from '../runNotes.ts';
import { ClusterShares, type ClusterSharesEvent } from './clusterShares.ts';

/*
 * A folder stands in for SLURM: sbatch counts jobs, squeue prints what the test has written once there was a job,
 * and each program fails if a file says so.
 * Shares have computed what their file `status.json` says.
 */

const RUN_ID = 'c0ffee00-0000-4000-8000-000000000000';

let slurm: string;
let folder: string;
let dataDir: string;
/** Folders of shares that cannot be read. */
let unreadable: Set<string>;
let notes: string[];
let events: ClusterSharesEvent[];
let started: ClusterShares[];
/** What the monotonic clock counts from, where a test moves it. */
let epoch: number;

beforeEach(() => {
  slurm = temporaryFolder();
  folder = temporaryFolder();
  dataDir = temporaryFolder();
  unreadable = new Set();
  notes = [];
  events = [];
  started = [];
  epoch = Date.now();
  mkdirSync(join(folder, 'work'));
  stub(
    'sbatch',
    `[ "$1" = --version ] || { n=$(($(cat '${slurm}/number' 2>/dev/null || echo 100) + 1)); echo $n > '${slurm}/number'; echo $n; exit; }; echo slurm 1`,
  );
  stub(
    'squeue',
    `! grep -q 'sbatch --parsable' '${slurm}/calls' || cat '${slurm}/queue' 2>/dev/null; exit 0`,
  );
  stub('scancel', 'exit 0');
  vi.stubEnv('PATH', `${slurm}:${process.env['PATH']}`);
});
afterEach(async () => {
  for (const name of ['sbatch', 'squeue', 'scancel']) works(name);
  for (const shares of started) await shares.stop();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function stub(name: string, does: string): void {
  const script = `#!/bin/sh\necho "${name} $*" >> '${slurm}/calls'\n[ ! -e '${slurm}/${name}.fails' ] || { cat '${slurm}/${name}.fails' >&2; exit 1; }\n${does}\n`;
  writeFileSync(join(slurm, name), script, { mode: 0o755 });
}
const fails = (name: string, says: string): void => writeFileSync(join(slurm, `${name}.fails`), `${says}\n`);
const works = (name: string): void => rmSync(join(slurm, `${name}.fails`), { force: true });
const AWAY = 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)';

/** Tasks with the columns job, share, state, node, reason. */
const queue = (...tasks: (readonly string[])[]): void =>
  writeFileSync(join(slurm, 'queue'), tasks.map((task) => `${task.join('|')}\n`).join(''));
const calls = (name: string): string[] =>
  readFileSync(join(slurm, 'calls'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(name) && !line.includes('--version'));
/** The name of a run's jobs, whose end is the number of shares. */
const nameOf = (call = ''): string => /-name=(\S+)/.exec(call)?.[1] ?? '';
const submitted = (): string[] => calls('sbatch').map((line) => /--array=(\S+)/.exec(line)?.[1] ?? '');

/** The next look merges what the share has computed. */
function computed(share: number, of: number, phase = 'done'): void {
  const at = join(folder, 'shares', `${share}-of-${of}`);
  mkdirSync(at, { recursive: true });
  const left = { framesLeft: 0, residuesLeft: 0, parts: { total: 1, done: 1 } };
  const status = { version: 1, node: 'n1', time: 1, phase, error: null, devices: [], ...left };
  writeFileSync(join(at, 'status.json'), JSON.stringify(status));
}

function fakeStore(of: number): RunStore {
  const left = new Set(Array.from({ length: of }, (_, turn) => turn));
  const part = (turn: number) => ({ key: `00000${turn}`, turn, frameBegin: 0, frameEnd: 6, residues: 1 });
  return {
    folder,
    shareParts: () => Promise.resolve([...left].map(part)),
    loadRun: () =>
      Promise.resolve({ description: { runId: RUN_ID, name: '', options: {} }, plan: {}, prepared: {} }),
    mergeShare: (path: string) => {
      if (unreadable.has(path))
        return Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
      const turn = Number(/(\d+)-of/.exec(path)?.[1]) - 1;
      const finished = readFileSync(join(folder, path, 'status.json'), 'utf8').includes('"phase":"done"');
      if (finished) left.delete(turn);
      return Promise.resolve({ keys: finished ? [part(turn).key] : [], finished, damaged: 0 });
    },
  } as unknown as RunStore;
}

function start(of: number) {
  const context = testContext();
  const shares = new ClusterShares({
    context: { ...context, paths: { ...context.paths, dataDir } },
    store: fakeStore(of),
    notes: { add: (_: string, code: string) => notes.push(code) } as unknown as RunNotes,
    runId: RUN_ID,
    cluster: { kind: 'slurm', script: '#!/bin/sh\n', shares: of, on_processors: true },
    emit: (event) => events.push(event),
    lookEveryMs: 10,
  });
  started.push(shares);
  shares.start();
  return shares;
}
/** Simulates kill -9: nothing is cancelled. */
const forget = (shares: ClusterShares): void => {
  started = started.filter((other) => other !== shares);
  Object.assign(shares, { scheduler: { job: null, cancel: () => Promise.resolve() } });
};
const eventually = (probe: () => unknown) => expect.poll(probe, { timeout: 60_000, interval: 20 });
const looks = async (count: number): Promise<void> => {
  const asked = calls('squeue').length;
  await eventually(() => calls('squeue').length).toBeGreaterThan(asked + count);
};
const reason = () =>
  events.flatMap((event) => {
    const why = event.type === 'shares_failed' && event.error.wording?.cause?.values['reason'];
    return why && typeof why === 'object' ? [why.key] : [];
  })[0];
const failure = () => events.find((event) => event.type === 'shares_failed')?.error.cause;
const taken = () => events.flatMap((event) => (event.type === 'shares_merged' ? event.keys : []));

describe.skipIf(process.platform === 'win32')('a run that SLURM computes', () => {
  it('submits each share once, and pauses with the reason once no task is left', async () => {
    queue(['101', '1', 'RUNNING', 'n1', 'None'], ['101', '2', 'RUNNING', 'n2', 'None']);
    const shares = start(2);
    await eventually(() => shares.live()).toMatchObject({ job: '101', waiting: 0 });
    queue(['101', '1', 'NODE_FAIL', 'n1', 'None'], ['101', '2', 'RUNNING', 'n2', 'None']);
    await eventually(() => notes).toContain('share_ended');
    await looks(2);
    expect(failure()).toBeUndefined();
    computed(2, 2);
    await eventually(failure).toMatch(/shares 1\/2 .*node failed/);
    expect(taken()).toEqual(['000001']);
    expect(submitted()).toEqual(['1-2']);
    expect(notes.filter((code) => code === 'share_ended')).toHaveLength(1);
  });

  it.each([
    ['CANCELLED', 'slurm.ended.person'],
    ['NODE_FAIL', 'slurm.ended.node'],
    ['TIMEOUT', 'slurm.ended.scheduler'],
    ['OUT_OF_MEMORY', 'slurm.ended.program'],
    ['', 'slurm.unknown'],
  ])('knows who ended a task that is %j in the queue', async (state, key) => {
    vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - epoch);
    queue(...(state === '' ? [] : [['101', '1', state, 'n1', 'None']]));
    start(1);
    await eventually(submitted).toEqual(['1']);
    if (state === '') {
      await looks(1);
      epoch -= 120_000;
    }
    await eventually(reason).toBe(key);
    expect(submitted()).toEqual(['1']);
  });

  it('merges what it can read and retries the rest, without ending running tasks', async () => {
    queue(
      ['101', '1', 'COMPLETED', 'n1', 'None'],
      ['101', '2', 'RUNNING', 'n1', 'None'],
      ['101', '3', 'COMPLETED', 'n1', 'None'],
    );
    unreadable.add('shares/1-of-3');
    computed(1, 3);
    computed(3, 3);
    const shares = start(3);
    await eventually(taken).toEqual(['000002']);
    await eventually(() => notes).toContain('cluster_passing');
    unreadable.clear();
    await eventually(taken).toEqual(['000002', '000000']);
    computed(2, 3, 'running');
    await eventually(() => shares.workElsewhere).toEqual({ parts: 1, frames: 6, residues: 1 });
    expect(calls('scancel')).toEqual([]);
    computed(2, 3);
    await eventually(taken).toContain('000001');
    expect(failure()).toBeUndefined();
  });

  it('remembers jobs that could not be cancelled, and follows them when it continues', async () => {
    queue(['101', '1', 'RUNNING', 'n1', 'None']);
    const first = start(1);
    await eventually(() => first.devices().length + submitted().length).toBe(1);
    fails('scancel', AWAY);
    await first.stop();
    expect(notes).toContain('jobs_left');
    works('scancel');
    // No response must not be mistaken for no tasks.
    fails('squeue', AWAY);
    const asked = calls('squeue').length;
    const second = start(1);
    await eventually(() => calls('squeue').length).toBeGreaterThan(asked + 2);
    expect(notes).toContain('cluster_passing');
    works('squeue');
    await eventually(() => second.live()).toMatchObject({ job: '101', waiting: 0 });
    expect(submitted()).toEqual(['1']);
    await second.stop();
    expect(calls('scancel').at(-1)).toBe(`scancel --name=${nameOf(calls('sbatch')[0])}`);
    expect(calls('squeue').at(-1)).toContain(`--name=${nameOf(calls('sbatch')[0])} `);
    // Cancelled jobs are forgotten.
    queue();
    start(1);
    await eventually(submitted).toEqual(['1', '1']);
  });

  it('looks for a job that SLURM may have taken without an answer, instead of forgetting it or submitting it twice', async () => {
    const says = 'Batch job submission failed: Socket timed out on send/recv operation';
    stub('sbatch', `[ "$1" = --version ] && exec echo slurm 1; echo '${says}' >&2; exit 1`);
    const first = start(1);
    await eventually(failure).toMatch(/no answer: .*timed out/);
    forget(first);
    await first.stop();
    queue(['101', '1', 'RUNNING', 'n1', 'None']);
    const second = start(1);
    await eventually(() => second.live()).toMatchObject({ job: '101', waiting: 0 });
    expect(submitted()).toEqual(['1']);
    await second.stop();
    expect(calls('scancel').map((call) => nameOf(call))).toEqual([expect.stringMatching(/-1$/)]);
  });

  it('does not submit again what a task has finished while the run was opened after a kill', async () => {
    queue(['101', '1', 'RUNNING', 'n1', 'None'], ['101', '2', 'RUNNING', 'n1', 'None']);
    const first = start(2);
    await eventually(() => first.live()).toMatchObject({ job: '101', waiting: 0 });
    forget(first);
    await first.stop();
    computed(1, 2);
    const status = join(folder, 'shares', '1-of-2', 'status.json');
    renameSync(status, join(slurm, 'done'));
    computed(1, 2, 'running');
    queue(['101', '1', 'COMPLETED', 'n1', 'None'], ['101', '2', 'RUNNING', 'n1', 'None']);
    // The task ends after the shares' statuses have been read.
    stub('squeue', `[ ! -e '${slurm}/done' ] || mv '${slurm}/done' '${status}'; cat '${slurm}/queue'`);
    start(2);
    await eventually(taken).toEqual(['000000']);
    await looks(2);
    expect(submitted()).toEqual(['1-2']);
  });

  it('submits after a kill what is missing, in ranges that fit into one argument', async () => {
    const of = 10_000;
    queue();
    const first = start(of);
    await eventually(submitted).toEqual(['1-10000']);
    forget(first);
    await first.stop();
    const missing = [1, 2, 3, 5, of];
    const all = Array.from({ length: of }, (_, place) => place + 1);
    const state = (share: number) => (missing.includes(share) ? 'FAILED' : 'RUNNING');
    queue(...all.map((share) => ['101', `${share}`, state(share), 'n1', 'None']));
    const second = start(of);
    await eventually(submitted).toEqual(['1-10000', '1-3,5,10000']);
    // SLURM lists the ended tasks for minutes.
    await looks(2);
    expect(notes).not.toContain('share_ended');
    expect(second.live()).toMatchObject({ waiting: 5 });
  });

  it('does not take tasks for its own that ended because the run was paused', async () => {
    queue(['101', '1', 'RUNNING', 'n1', 'None'], ['101', '2', 'RUNNING', 'n1', 'None']);
    const first = start(2);
    await eventually(() => first.live()).toMatchObject({ job: '101', waiting: 0 });
    await first.stop();
    queue(['101', '1', 'CANCELLED', 'n1', 'None'], ['101', '2', 'COMPLETING', 'n1', 'None']);
    const second = start(2);
    await eventually(submitted).toEqual(['1-2']);
    await looks(2);
    expect(second.live()).toMatchObject({ waiting: 2 });
    expect(notes).not.toContain('share_ended');
  });
});
