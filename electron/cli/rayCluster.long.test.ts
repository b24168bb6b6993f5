import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { REAL_PYTHON, readTables, SAMPLE, temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, MANY_PARTS, succeeds, virnucpro, waitUntil } from './testing/commandLineProcess.ts';
import { backendProcesses, MARK, markedProcesses } from './testing/markedProcesses.ts';

const PYTHON = process.env['VIRNUCPRO_RAY_PYTHON'] ?? REAL_PYTHON;
const WITHOUT_RAY = process.platform !== 'linux' || spawnSync(PYTHON, ['-c', 'import ray']).status !== 0;
const RAY = 'import sys; from ray.scripts.scripts import main; sys.exit(main())';

/** Ray's sockets lie below it, and their paths must be short. */
let folder: string;
let port: number;
const nodes: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync('/tmp/vr-');
  port = await freePort();
  writeFileSync(join(folder, 'token'), 'a-token-of-this-test-alone-0123456789abcdef', { mode: 0o600 });
  vi.stubEnv('RAY_AUTH_TOKEN_PATH', join(folder, 'token'));
  vi.stubEnv('RAY_AUTH_MODE', 'token');
  vi.stubEnv('RAY_USAGE_STATS_ENABLED', '0');
  vi.stubEnv('TMPDIR', folder);
  vi.stubEnv(MARK, folder);
});
afterEach(async () => {
  for (const node of nodes.splice(0)) {
    const end = ended(node);
    node.kill('SIGTERM');
    await end;
  }
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(WITHOUT_RAY)('a run on a Ray cluster of three nodes, on processors', () => {
  it.each([['--no-shared-storage'], []])(
    'has the tables of a local run, though a node is killed and one added (%s)',
    async (...flags: string[]) => {
      const parent = await temporaryFolder();
      const [local, remote] = [join(parent, 'local'), join(parent, 'remote')];
      await succeeds(['predict', SAMPLE, '-o', local, '-q', ...MANY_PARTS]);
      await start('head', ['--head', `--port=${port}`, `--temp-dir=${folder}/t`, '--num-cpus=0']);
      await start('one', [`--address=127.0.0.1:${port}`, '--num-cpus=1']);
      const before = raylets();
      await start('two', [`--address=127.0.0.1:${port}`, '--num-cpus=1']);
      const [two] = raylets().filter((pid) => !before.includes(pid));
      const run = virnucpro([
        ...['predict', SAMPLE, '-o', remote, '-q', '--model', 'demo', '--residues-per-part', '800'],
        ...['--python', PYTHON, '--ray', `127.0.0.1:${port}`, '--cpu-workers', '1', ...flags],
      ]);
      const end = ended(run);
      const scored = (): number => {
        const scores = join(remote, 'work', 'scores');
        return existsSync(scores) ? readdirSync(scores).length : 0;
      };
      await waitUntil(() => scored() > 1 || run.exitCode !== null, 'two parts are scored');
      // As if its computer lost power.
      expect(two).toBeDefined();
      process.kill(Number(two), 'SIGKILL');
      await start('three', [`--address=127.0.0.1:${port}`, '--num-cpus=1']);
      expect(await end).toMatchObject({ code: 0 });
      expect(await readTables(remote)).toEqual(await readTables(local));
      await waitUntil(() => backendProcesses(folder, 'worker').length === 0, 'no worker is left');
    },
    600_000,
  );
});

async function start(name: string, args: string[]): Promise<void> {
  const common = ['--num-gpus=0', '--object-store-memory=80000000', '--include-log-monitor=false', '--block'];
  const node = spawn(PYTHON, ['-c', RAY, 'start', ...args, ...common], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  nodes.push(node);
  let said = '';
  node.stdout.on('data', (data) => (said += String(data)));
  node.stderr.on('data', (data) => (said += String(data)));
  // One after the other: at the same time two nodes of one computer may choose the same sockets.
  await waitUntil(() => said.includes('runtime started') || node.exitCode !== null, `${name} is there`);
  expect(node.exitCode, said).toBeNull();
}

/** Numbers of the processes that stand for a node. */
const raylets = (): number[] =>
  markedProcesses(folder)
    .filter(({ command }) => command.includes('/raylet/raylet '))
    .map(({ pid }) => pid);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}
