/**
 * Connects two computers with nothing but SSH: a real sshd with a host key, a configuration and, if the
 * system allows it, a network of its own, whose connection is cut while a file is sent and during a run. The
 * other computer is this one with an empty home.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildWindow } from '../../build/buildWindow.ts';
import { fetchUv } from '../../build/pack/fetchUv.ts';
import { succeeds } from '../../electron/cli/testing/commandLineProcess.ts';
import type { ErrorCode, Transfer } from '../../electron/contract/index.ts';
import { fetchFile, sendFile } from '../../electron/engine/service/computers/transfers.ts';
import { Computers } from '../../electron/engine/service/computers/computers.ts';
import { NODE_REQUIREMENT } from '../../electron/engine/service/computers/remoteServer.ts';
import { runningServerSchema, tunnelHeaders } from '../../electron/engine/service/computers/tunnel.ts';
import { overSocket, type SocketClient } from '../../electron/server/testing/socketClient.ts';
import { buildWheel } from '../../packaging/pip/buildWheel.ts';
import {
  COMPARED_TABLES,
  readTables,
  REAL_PYTHON,
  SAMPLE,
  temporaryFolder,
  WITHOUT_PYTHON,
} from '../../electron/engine/testing/testContext.ts';

const CUT_MS = 30_000;
const DEADLINE_MS = 600_000;
const SSHD = '/usr/sbin/sshd';
const NETWORK = 'virnucpro';
/** These addresses are from a range that nobody routes (TEST-NET-2). */
const [NEAR, FAR] = ['198.51.100.1', '198.51.100.2'];
const PORT = 2222;
const FILE_BYTES = 300_000_000;
const COPIES_OF_THE_SAMPLE = 8;

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as { version: string };

let folder: string;
let home: string;
let computers: Computers;
let address: string;
let server: ChildProcess | undefined;
let agent: ChildProcess;
/** Whether sshd listens in a network of its own; otherwise it uses the loopback interface. */
let hasNetwork = false;
const missing = whatIsMissing();

const run = (file: string, ...args: string[]) => execa(file, args);
const link = () => computers.all().find((one) => one.address === address)?.link;
const host = () => (hasNetwork ? FAR : '127.0.0.1');

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Not in time: ${what}; ${JSON.stringify(link())}`);
    await sleep(50);
  }
}

beforeEach(({ skip }) => {
  skip(missing !== undefined, missing);
});

beforeAll(async () => {
  if (missing !== undefined) return;
  folder = temporaryFolder();
  home = join(folder, 'far home');
  await mkdir(home);
  await makeNetwork();
  for (const name of ['host_key', 'other_host_key', 'key']) {
    await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name));
  }
  await startSshd('host_key');
  const wheels = ['download', '--quiet', '--no-deps', '--dest', join(folder, 'wheels')];
  await run('python3', '-m', 'pip', ...wheels, NODE_REQUIREMENT);
  // The test has an agent of its own, so that ~/.ssh stays unchanged.
  const socket = (process.env['SSH_AUTH_SOCK'] = join(folder, 'agent'));
  agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  await until('the agent listens', () => existsSync(socket));
  await run('ssh-add', '-q', join(folder, 'key'));
  await packOwn();
  computers = openComputers();
});

afterAll(async () => {
  if (missing !== undefined) return;
  await (computers as Computers | undefined)?.close();
  await endServersThere();
  await stopSshd();
  agent.kill();
  await removeNetwork();
});

function whatIsMissing(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'servers are Linux with an x86-64 processor';
  if (!existsSync(SSHD)) return 'there is no sshd here (Debian: openssh-server)';
  if (WITHOUT_PYTHON) return 'there is no Python environment';
  return undefined;
}

/**
 * Creates the two ends of a virtual cable, one of them in a network of its own. Without the right to do so,
 * connections are cut by ending sshd's processes.
 */
async function makeNetwork(): Promise<void> {
  // A killed test leaves its network behind, which would still answer for the same addresses, without an sshd.
  await removeNetwork();
  const commands = [
    `netns add ${NETWORK}`,
    `link add ${NETWORK}a type veth peer name ${NETWORK}b netns ${NETWORK}`,
    `addr add ${NEAR}/30 dev ${NETWORK}a`,
    `link set ${NETWORK}a up`,
    `-n ${NETWORK} addr add ${FAR}/30 dev ${NETWORK}b`,
    `-n ${NETWORK} link set ${NETWORK}b up`,
    `-n ${NETWORK} link set lo up`,
  ];
  for (const command of commands) {
    const { failed } = await execa('ip', command.split(' '), { reject: false });
    if (failed) return;
  }
  hasNetwork = true;
}

const removeNetwork = () => execa('ip', ['netns', 'del', NETWORK], { reject: false });

/** `settings`: environment variables of every login. */
async function startSshd(hostKey: string, ...settings: string[]): Promise<void> {
  // If root starts sshd, it needs this folder for privilege separation.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true });
  const config = join(folder, 'sshd_config');
  const lines = [
    `Port ${PORT}`,
    `ListenAddress ${host()}`,
    `HostKey "${join(folder, hostKey)}"`,
    `AuthorizedKeysFile "${join(folder, 'key.pub')}"`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'ClientAliveInterval 10',
    `SetEnv "HOME=${home}" "VIRNUCPRO_PYTHON=${REAL_PYTHON}" UV_OFFLINE=1 ${settings.join(' ')}`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const command = [SSHD, '-D', '-e', '-f', config];
  const [file = '', ...args] = hasNetwork ? ['ip', 'netns', 'exec', NETWORK, ...command] : command;
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  server = child;
  let output = '';
  for await (const data of child.stderr.iterator({ destroyOnReturn: false })) {
    output += String(data);
    if (output.includes('Server listening')) break;
  }
  child.stderr.resume();
  expect(output).toContain('Server listening');
}

async function stopSshd(): Promise<void> {
  const child = server;
  server = undefined;
  if (child?.pid === undefined) return;
  process.kill(-child.pid, 'SIGTERM');
  await once(child, 'exit');
}

/** Interrupts the connection without notifying either side. */
async function cutFor(milliseconds: number): Promise<void> {
  if (hasNetwork) await run('ip', 'link', 'set', `${NETWORK}a`, 'down');
  else await stopSshd();
  await sleep(milliseconds);
  if (hasNetwork) await run('ip', 'link', 'set', `${NETWORK}a`, 'up');
  else await startSshd('host_key');
}

/** Builds the wheel like `npm run pack`, and lays it out with uv as in the desktop app. */
async function packOwn(): Promise<void> {
  await buildWindow();
  await buildWheel('linux-x64', join(folder, 'server'));
  cpSync(await fetchUv('linux-x64'), join(folder, 'uv'), { recursive: true });
}

function openComputers(): Computers {
  return new Computers({
    dataDir: join(folder, 'near'),
    root: folder,
    version,
    changed: () => undefined,
  });
}

/** Makes calls over the tunnel, like the desktop app. */
async function withClient<Answer>(
  work: (client: SocketClient['client']) => Promise<Answer>,
): Promise<Answer> {
  const tunnel = computers.tunnel(address);
  if (!tunnel) throw new Error('It is not connected');
  const { client, close } = overSocket(`127.0.0.1:${tunnel.port}`, tunnelHeaders(tunnel));
  return work(client).finally(close);
}

async function endServersThere(): Promise<void> {
  const place = join(home, '.local', 'share', 'virnucpro-desktop', 'servers');
  for (const name of await readdir(place).catch(() => [])) {
    if (!name.endsWith('.json')) continue;
    const { pid } = runningServerSchema.parse(JSON.parse(await readFile(join(place, name), 'utf8')));
    process.kill(pid, 'SIGTERM');
    await until('the server there has ended', () => !existsSync(`/proc/${pid}`));
  }
}

async function connect(): Promise<void> {
  computers.get(address).connect();
  await until('connected or not', () => {
    const now = link();
    if (now?.state === 'connecting' && now.question?.kind === 'host_key')
      computers.get(address).answer('yes');
    return now?.state === 'connected' || now?.state === 'away';
  });
}

it('shows the host key, says that packages are out of reach, then installs itself in an empty home and starts', async () => {
  address = `${userInfo().username}@${host()}:${PORT}`;
  computers.add(address);
  computers.get(address).connect();
  await until('the host key is shown', () => {
    const now = link();
    return now?.state === 'away' || (now?.state === 'connecting' && now.question !== null);
  });
  const { stdout } = await run('ssh-keygen', '-lf', join(folder, 'host_key.pub'));
  expect(link()).toMatchObject({ question: { kind: 'host_key', fingerprint: stdout.split(' ')[1] } });
  computers.get(address).answer('yes');
  await until('installing was tried', () => link()?.state === 'away');
  expect(link(), JSON.stringify(link())).toMatchObject({
    error: { wording: { cause: { key: 'computer.no_network' } } },
  });
  await stopSshd();
  await startSshd('host_key', `"UV_FIND_LINKS=${join(folder, 'wheels')}"`);
  await connect();
  expect(link(), JSON.stringify(link())).toMatchObject({ state: 'connected' });
  const info = await withClient((client) => client.computer.info());
  expect(info).toMatchObject({ shell: 'browser', root: '/', sameComputer: false });
  expect(info.dataDir.startsWith(home)).toBe(true);
  // Whoever can read the file can use the server.
  const place = join(home, '.local', 'share', 'virnucpro-desktop', 'servers');
  const { stdout: modes } = await run(
    'stat',
    '-c',
    '%a',
    place,
    join(place, (await readdir(place))[0] ?? ''),
  );
  expect(modes.split('\n')).toEqual(['700', '600']);
});

it('sends a complete file although the connection is cut for half a minute', async () => {
  const path = join(folder, 'large.fa');
  const block = randomBytes(FILE_BYTES / 100);
  await writeFile(path, Buffer.concat(Array.from({ length: 100 }, () => block)));
  const seen: Transfer[] = [];
  let cut: Promise<void> | undefined;
  const there = await sendFile(
    path,
    computers.get(address),
    (transfer) => {
      seen.push(transfer);
      if (transfer.doneBytes > FILE_BYTES / 4) cut ??= cutFor(CUT_MS);
    },
    new AbortController().signal,
  );
  await cut;
  expect(cut).toBeDefined();
  await run('cmp', path, there);
  // Bytes that had arrived were not sent again; some had only left.
  const afterTheCut = seen.slice(seen.findIndex(({ doneBytes }) => doneBytes > FILE_BYTES / 4));
  expect(Math.min(...afterTheCut.map(({ doneBytes }) => doneBytes))).toBeGreaterThan(FILE_BYTES / 8);
  await rm(there);
  await rm(path);
});

it('a run continues while the connection is cut and while this side is closed, and its tables equal those of a local run', async () => {
  const input = join(folder, 'sample.fa');
  const sample = await readFile(SAMPLE, 'utf8');
  const copies = Array.from({ length: COPIES_OF_THE_SAMPLE }, (_, copy) =>
    sample.replaceAll(/^>/gm, `>${copy}_`),
  );
  await writeFile(input, copies.join(''));
  const { signal } = new AbortController();
  const there = await sendFile(input, computers.get(address), () => undefined, signal);
  const { runId } = await withClient((client) =>
    client.runs.create({ inputs: [there], model: 'teaching', devices: 'cpu:1', name: 'far' }),
  );
  await cutFor(CUT_MS);
  await until('connected again', () => link()?.state === 'connected');
  // The laptop is closed, and opened again.
  await computers.close();
  computers = openComputers();
  await connect();
  expect(link()).toMatchObject({ state: 'connected' });
  await withClient(async (client) => {
    for await (const { run: far } of await client.runs.watch({ runId })) {
      if (far.state.phase === 'done') return;
      expect(far.state.phase).not.toMatch(/failed|paused|cancelled/);
    }
  });
  const fetched = join(folder, 'fetched');
  await mkdir(fetched);
  // An empty file is not offered.
  const offered = (await withClient((client) => client.runs.files({ runId })))
    .filter(({ bytes }) => bytes !== null)
    .map(({ name }) => name);
  for (const name of COMPARED_TABLES) {
    if (!offered.includes(name)) {
      await writeFile(join(fetched, name), '');
      continue;
    }
    const { downloadPath } = await withClient((client) => client.runs.download({ runId, name }));
    await fetchFile(downloadPath, join(fetched, name), computers.get(address), () => undefined, signal);
  }
  const flags = ['--model', 'teaching', '--devices', 'cpu:1', '--python', REAL_PYTHON];
  await succeeds(['predict', input, ...flags, '-o', join(folder, 'here')], {
    env: { VIRNUCPRO_DATA_DIR: join(folder, 'near data') },
  });
  expect(await readTables(fetched)).toEqual(await readTables(join(folder, 'here')));
});

it('explains why a computer cannot be reached', async () => {
  const codeAt = async (other: string): Promise<ErrorCode | undefined> => {
    const before = address;
    address = other;
    computers.add(address);
    await connect();
    const now = link();
    await computers.remove(address);
    address = before;
    return now?.state === 'away' ? now.error.code : undefined;
  };
  const user = userInfo().username;
  expect(await codeAt(`${user}@no-such-computer.invalid`)).toBe('ssh_name_unknown');
  expect(await codeAt(`${user}@${host()}:${PORT + 1}`)).toBe('ssh_unreachable');
  expect(await codeAt(`nobody-of-that-name@${host()}:${PORT}`)).toBe('ssh_denied');
  await computers.get(address).disconnect();
  await stopSshd();
  await startSshd('other_host_key');
  await connect();
  expect(link()).toMatchObject({ state: 'away', error: { code: 'ssh_host_key_changed' }, again: false });
});
