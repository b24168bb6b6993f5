/**
 * Connects one program to the server of another through a stand-in for ssh: sign-in, installation, files both
 * ways, broken connections.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ComputerLink, Transfer } from '../contract/index.ts';
import { fetchFile, sendFile } from '../engine/service/computers/transfers.ts';
import { Computers } from '../engine/service/computers/computers.ts';
import { cutFakeSsh, makeFakeSsh, makeServerPackage } from '../engine/service/computers/testing/fakeSsh.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { Downloads } from './downloads.ts';
import { RequestAnswers } from './requestAnswers.ts';
import { WindowSessions } from './windowSessions.ts';

const FINGERPRINT = 'SHA256:3o0ZQ8pPV4QH1rTqnZr1kYbYw7nKfTj0m5vI2kqg8uU';
const ADDRESS = 'anna@far';
const PASSWORD = 'correct horse';
const FILE_BYTES = 100_000_000;

let folder: string;
let computers: Computers;
let downloads: Downloads;
let ssh: string;
let start: string;
let atWork = false;
const links: ComputerLink[] = [];
const closing: (() => unknown)[] = [];

const link = () => computers.all()[0]?.link;

/** Builds what the other computer runs: a server's answers, without an engine behind them. */
async function serverThere(home: string): Promise<string> {
  downloads = new Downloads(join(home, 'exports'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sessions = new WindowSessions(port, join(home, 'sessions.json'));
  const answers = new RequestAnswers({
    ownNames: ['127.0.0.1'],
    pageFolder: home,
    uploadsFolder: join(home, 'uploads'),
    downloads,
    sessions,
    about: () => ({ version: '1.2.3', atWork }),
    entered: () => undefined,
  });
  server.on('request', (request, response) => void answers.answer(request, response));
  closing.push(
    () => server.closeAllConnections(),
    () => void server.close(),
    () => downloads.close(),
  );
  const record = {
    port,
    version: '1.2.3',
    hostName: 'far',
    cookie: sessions.letIn(),
    uploads: join(home, 'uploads of β'),
  };
  // The process that is started only points to this test's server.
  const rest = `"pid": %s, "program": "%s"}`;
  return `printf '%s, ${rest}' '${JSON.stringify(record).slice(0, -1)}' $$ "$0" > "$6"; exec sleep 600`;
}

beforeAll(async () => {
  folder = temporaryFolder();
  const home = join(folder, 'far home');
  start = await serverThere(home);
  const root = makeServerPackage(join(folder, 'package'), '1.2.3', `echo Welcome\n${start}`);
  ssh = makeFakeSsh(join(folder, 'ssh'), { home, fingerprint: FINGERPRINT, password: PASSWORD });
  process.env['PATH'] = `${ssh}:${process.env['PATH']}`;
  computers = new Computers({
    dataDir: join(folder, 'near'),
    root,
    version: '1.2.3',
    changed: () => {
      const now = link();
      if (now) links.push(now);
    },
  });
});

afterAll(async () => {
  for (const close of closing) await close();
  process.env['PATH'] = process.env['PATH']?.replace(`${ssh}:`, '');
});

it.skipIf(process.platform !== 'linux')(
  'shows the host key, asks for the password, installs and connects; stores nothing but the address',
  async () => {
    const share = join(folder, 'far home', '.local', 'share');
    const programs = join(share, 'virnucpro-server');
    const servers = join(share, 'virnucpro-desktop', 'servers');
    await mkdir(servers, { recursive: true });
    const running = JSON.stringify({ program: join(programs, '0.2-running', 'env', 'program') });
    await writeFile(join(servers, 'gpu.json'), running);
    const yesterday = new Date(Date.now() - 25 * 60 * 60_000);
    for (const name of ['0.1-old', '0.2-running', '0.3-new', 'python']) {
      await mkdir(join(programs, name), { recursive: true });
      if (name !== '0.3-new') await utimes(join(programs, name), yesterday, yesterday);
    }
    // Adding a computer twice lists it once.
    for (let times = 0; times < 2; times += 1) computers.add(ADDRESS);
    expect(computers.all()).toEqual([{ address: ADDRESS, link: { state: 'idle' } }]);
    computers.get(ADDRESS).connect();
    const asks = (question: object) => expect.poll(link).toMatchObject({ question });
    await asks({ kind: 'host_key', keyType: 'ED25519', fingerprint: FINGERPRINT });
    computers.get(ADDRESS).answer('yes');
    await asks({ kind: 'secret', again: false });
    computers.get(ADDRESS).answer('wrong');
    await asks({ kind: 'secret', again: true });
    computers.get(ADDRESS).answer(PASSWORD);
    await expect.poll(link).toEqual({ state: 'connected', version: '1.2.3', hostName: 'far' });
    const steps = new Set(links.flatMap((one) => (one.state === 'connecting' ? [one.step] : [])));
    expect([...steps]).toEqual(['signing_in', 'looking', 'sending', 'installing', 'starting']);
    // Earlier programs stay while they are new, or a server runs them.
    const kept = (await readdir(programs)).toSorted();
    expect(kept).toEqual(['0.2-running', '0.3-new', expect.stringMatching(/^1\.2\.3-/), 'python']);
    for (const name of await readdir(join(folder, 'near'), { recursive: true })) {
      const path = join(folder, 'near', name);
      if ((await stat(path)).isFile()) expect(await readFile(path, 'utf8'), name).not.toContain(PASSWORD);
    }
  },
);

it.skipIf(process.platform !== 'linux')(
  'sends a file and fetches it again over connections that break, without changing a byte',
  async () => {
    // From now on a key is used, as by most people: the computer reconnects without anybody answering.
    makeFakeSsh(ssh, { home: join(folder, 'far home') });
    const path = join(folder, 'reads β.fa');
    const content = randomBytes(FILE_BYTES);
    await writeFile(path, content);
    const { signal } = new AbortController();
    /** Breaks the connection after some of the file has left, until the transfer waits. */
    const cutOnce = () => {
      let mended: Promise<void> | undefined;
      const cut = async () => {
        cutFakeSsh(ssh, true);
        await expect.poll(link).toMatchObject({ state: 'away' });
        cutFakeSsh(ssh, false);
      };
      const tell = (transfer: Transfer) => {
        if (transfer.doneBytes >= FILE_BYTES / 4) mended ??= cut();
      };
      return { tell, wasCut: async () => (await mended, mended !== undefined) };
    };
    const sending = cutOnce();
    const there = await sendFile(path, computers.get(ADDRESS), sending.tell, signal);
    expect(await sending.wasCut()).toBe(true);
    expect((await readFile(there)).equals(content)).toBe(true);
    expect(there.endsWith('reads β.fa')).toBe(true);
    // The file is already there.
    expect(await sendFile(path, computers.get(ADDRESS), () => undefined, signal)).toBe(there);

    const copy = join(folder, 'copy.fa');
    const fetching = cutOnce();
    await fetchFile(downloads.lend(there), copy, computers.get(ADDRESS), fetching.tell, signal);
    expect(await fetching.wasCut()).toBe(true);
    expect((await readFile(copy)).equals(content)).toBe(true);
    await expect(
      fetchFile('/download/gone/x', join(folder, 'x'), computers.get(ADDRESS), () => undefined, signal),
    ).rejects.toThrow('not offered');
    expect(await readdir(folder)).not.toContain('x.part');
  },
);

it.skipIf(process.platform !== 'linux')(
  'ends the server of another version, unless it is working on a run',
  async () => {
    const share = join(folder, 'far home', '.local', 'share', 'virnucpro-desktop');
    const file = join(share, 'servers', `${hostname()}.json`);
    const programThere = async () => (await readFile(file, 'utf8')).replace(/.*virnucpro-server/, '');
    const before = await programThere();
    makeServerPackage(join(folder, 'package'), '1.2.3', `: other\n${start}`);
    const connectAgain = async () => {
      await computers.get(ADDRESS).disconnect();
      computers.get(ADDRESS).connect();
      await expect.poll(() => link()?.state).toMatch(/^(connected|away)$/);
    };
    atWork = true;
    await connectAgain();
    expect(link()).toMatchObject({ state: 'away', error: { code: 'server_other_version' } });
    expect(await programThere()).toBe(before);
    atWork = false;
    await connectAgain();
    expect(link()).toMatchObject({ state: 'connected' });
    expect(await programThere()).not.toBe(before);
    await computers.remove(ADDRESS);
    expect(computers.all()).toEqual([]);
  },
);
