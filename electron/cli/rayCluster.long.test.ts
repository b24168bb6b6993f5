import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../engine/service/computers/sshClient.ts';
import { REAL_PYTHON, readTables, SAMPLE, temporaryFolder } from '../engine/testing/testContext.ts';
import {
  ended,
  MANY_PARTS,
  succeeds,
  virnucpro,
  waitUntil,
  type Ending,
} from './testing/commandLineProcess.ts';
import { backendProcesses, MARK, markedProcesses } from './testing/markedProcesses.ts';

const PYTHON = process.env['VIRNUCPRO_RAY_PYTHON'] ?? REAL_PYTHON;
const WITHOUT_RAY = process.platform !== 'linux' || spawnSync(PYTHON, ['-c', 'import ray']).status !== 0;
const RAY = 'import sys; from ray.scripts.scripts import main; sys.exit(main())';

const COPIES = 6;
/** For what must happen, however busy the computer is. */
const PATIENCE_MS = 1_200_000;
/**
 * A dead node is noticed after about 3 s and a dead head after 10 s, and no Python workers are started in
 * advance.
 */
const QUICK_AND_SMALL = {
  RAY_health_check_initial_delay_ms: '1000',
  RAY_health_check_period_ms: '1000',
  RAY_health_check_timeout_ms: '10000',
  RAY_health_check_failure_threshold: '3',
  RAY_gcs_rpc_server_reconnect_timeout_s: '10',
  RAY_prestart_worker_first_driver: '0',
  RAY_enable_worker_prestart: '0',
};

/** Ray creates sockets in it, and their paths must be short. */
let folder: string;
let env: Record<string, string>;
let port: number;
const nodes = new Map<string, ChildProcess>();
let parent: string;
let input: string;
let local: string;

const WHY_NOT = `Ray is not installed for ${PYTHON}: name another Python by VIRNUCPRO_RAY_PYTHON`;

describe('a run on a Ray cluster of three nodes, on processors', () => {
  beforeAll(async () => {
    if (WITHOUT_RAY) return;
    parent = temporaryFolder();
    local = join(parent, 'local');
    input = join(parent, 'input.fa');
    const sample = readFileSync(SAMPLE, 'utf8');
    const copies = Array.from({ length: COPIES }, (_, copy) => sample.replaceAll(/^>/gm, `>copy_${copy}_`));
    writeFileSync(input, copies.join(''));
    await succeeds(['predict', input, '-o', local, '-q', '--precision', 'fp32', ...MANY_PARTS]);
    port = await freePort();
    folder = mkdtempSync('/tmp/vr-');
    env = {
      ...QUICK_AND_SMALL,
      RAY_AUTH_TOKEN_PATH: join(folder, 'token'),
      RAY_AUTH_MODE: 'token',
      RAY_USAGE_STATS_ENABLED: '0',
      TMPDIR: folder,
      VIRNUCPRO_CACHE: join(folder, 'cache'),
      [MARK]: folder,
    };
    writeFileSync(join(folder, 'token'), 'a-token-of-this-test-alone-0123456789abcdef', { mode: 0o600 });
    await start('head', leading());
    await start('one', joining());
    await start('two', joining());
  }, 3_600_000);
  afterAll(async () => {
    if (WITHOUT_RAY) return;
    // Killed by force: a node whose head has died takes minutes to shut down in order.
    for (const node of nodes.values()) node.kill('SIGKILL');
    await waitUntil(
      () => {
        const left = processesOfTheCluster();
        for (const pid of left) kill(pid);
        return left.length === 0;
      },
      'nothing of the cluster is left',
      PATIENCE_MS,
    );
    rmSync(folder, { recursive: true, force: true });
  }, 3_600_000);

  it('has the tables of a local run, although a node is killed and one is added', async ({ skip }) => {
    skip(WITHOUT_RAY, WHY_NOT);
    const remote = join(parent, 'remote');
    const { run, end } = computing(remote);
    await waitWhile(run, () => workersOf('one').length > 0, 'node one computes');
    killWithChildren('one');
    await start('three', joining());
    const { code, output } = await end;
    expect(code, `${output.slice(-8_000)}\n${logs()}`).toBe(0);
    expect(await readTables(remote)).toEqual(await readTables(local));
    await waitUntil(() => backendProcesses(folder, 'worker').length === 0, 'no worker is left', PATIENCE_MS);
  }, 3_600_000);

  it('pauses when the head is killed, and has the tables of a local run when it is resumed with a new head', async ({
    skip,
  }) => {
    skip(WITHOUT_RAY, WHY_NOT);
    const remote = join(parent, 'without-head');
    // Nodes compute on for a while without their head. Two at a time, so many shares are not done by then.
    const { run, end } = computing(remote, '--shares', '24');
    await waitWhile(run, () => hasScored(remote), 'a part is computed');
    killWithChildren('head');
    const { code, output } = await end;
    expect(code, `${output.slice(-8_000)}\n${logs()}`).toBe(1);
    expect(output).toMatch(/head node/);
    await waitUntil(() => backendProcesses(folder, 'worker').length === 0, 'no worker is left', PATIENCE_MS);
    for (const name of nodes.keys()) killWithChildren(name);
    await start('new head', leading());
    await start('four', joining());
    await start('five', joining());
    await succeeds(
      [
        'resume',
        remote,
        '-q',
        '--python',
        PYTHON,
        ...['--ray', `127.0.0.1:${port}`, '--shares', '2', '--cpus', '1'],
      ],
      { env },
    );
    expect(await readTables(remote)).toEqual(await readTables(local));
  }, 3_600_000);
});

function computing(remote: string, ...flags: string[]): { run: ChildProcess; end: Promise<Ending> } {
  const run = virnucpro(
    [
      ...['predict', input, '-o', remote, '-q', '--model', 'teaching', '--residues-per-part', '800'],
      ...['--python', PYTHON, '--ray', `127.0.0.1:${port}`, '--shares', '6', '--cpus', '1', ...flags],
    ],
    { env },
  );
  return { run, end: ended(run) };
}

/** Waits for something that happens while the run computes. */
async function waitWhile(run: ChildProcess, condition: () => boolean, description: string): Promise<void> {
  await waitUntil(() => run.exitCode !== null || condition(), description, PATIENCE_MS);
  expect(run.exitCode, `the run has ended before ${description}`).toBeNull();
}

function hasScored(run: string): boolean {
  const shares = join(run, 'shares');
  const names = existsSync(shares) ? readdirSync(shares) : [];
  return names.some((name) => {
    const scores = join(shares, name, 'work', 'scores');
    return existsSync(scores) && readdirSync(scores).length > 0;
  });
}

/** Python workers that a node of the cluster has started. */
function workersOf(node: string): number[] {
  const starter = nodes.get(node)?.pid;
  const isBelow = (pid: number | null): boolean =>
    pid === starter || (pid !== null && pid > 1 && isBelow(parentOf(pid)));
  return backendProcesses(folder, 'worker').flatMap(({ pid }) => (isBelow(pid) ? [pid] : []));
}

const leading = (): string[] => [...['--head', `--port=${port}`, `--temp-dir=${folder}/t`, '--num-cpus=0']];
const joining = (): string[] => [`--address=127.0.0.1:${port}`, '--num-cpus=1'];

async function start(name: string, args: string[]): Promise<void> {
  const node = spawn(
    PYTHON,
    [
      ...['-c', RAY, 'start', ...args, `--node-name=${name}`, '--num-gpus=0', '--block'],
      ...['--object-store-memory=80000000', `--plasma-directory=${folder}`, '--include-log-monitor=false'],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
  );
  nodes.set(name, node);
  let output = '';
  node.stdout.on('data', (data) => (output += String(data)));
  node.stderr.on('data', (data) => (output += String(data)));
  // Nodes are started one after the other: two nodes on one computer may choose the same sockets at the same
  // time.
  await waitUntil(
    () => output.includes('runtime started') || node.exitCode !== null,
    `${name} is there`,
    PATIENCE_MS,
  );
  expect(node.exitCode, output).toBeNull();
}

/** This simulates a power failure of a node's computer. */
function killWithChildren(name: string): void {
  const starter = nodes.get(name)?.pid;
  const marked = markedProcesses(folder).map(({ pid }) => pid);
  for (const pid of marked.filter((one) => one === starter || parentOf(one) === starter)) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

/**
 * Ray's agents overwrite their environment with their names, so they carry no mark; but they write logs into
 * the folder.
 */
function processesOfTheCluster(): number[] {
  const marked = markedProcesses(folder).map(({ pid }) => pid);
  const writing = readdirSync('/proc').filter((pid) => {
    try {
      const files = /^\d+$/.test(pid) ? readdirSync(`/proc/${pid}/fd`) : [];
      return files.some((file) => readlinkSync(`/proc/${pid}/fd/${file}`).startsWith(`${folder}/`));
    } catch {
      return false;
    }
  });
  return [...new Set([...marked, ...writing.map(Number)])].filter((pid) => pid !== process.pid);
}

/** The ends of Ray's logs, to report with a failure. */
function logs(): string {
  const place = join(folder, 't', 'session_latest', 'logs');
  return readdirSync(place)
    .filter((name) => /^(gcs_server|raylet)|\.err$/.test(name))
    .map((name) => `--- ${name}\n${readFileSync(join(place, name), 'utf8').slice(-3_000)}`)
    .join('\n');
}
