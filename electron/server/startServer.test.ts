import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import { hostname, networkInterfaces } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Service } from '../engine/index.ts';
import { openTestService } from '../engine/service/testing/testService.ts';
import { rootPolicy } from './requestGuard.ts';
import { startServer, type RunningServer, type ServerOptions } from './startServer.ts';
import { uploadName } from './uploads.ts';

let service: Service;
let folder: string;
let server: RunningServer;
let options: ServerOptions;
let cookie: string;
const host = (): string => `127.0.0.1:${server.port}`;

beforeAll(async () => {
  ({ service, folder } = await openTestService());
  const pageFolder = join(folder, 'page');
  await mkdir(pageFolder);
  await writeFile(join(pageFolder, 'index.html'), '<!doctype html><title>window</title>');
  options = {
    host: '127.0.0.1',
    port: 0,
    root: folder,
    pageFolder,
    allowNetwork: false,
    onNewAddress: () => undefined,
  };
  server = await startServer(service, options);
  const entered = await send('GET', new URL(server.address()).search.replace('?', '/?'));
  cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
});

afterAll(async () => {
  await server.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends plain requests, because `fetch` does not let a test fake Host and Origin. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
  { port } = server,
): Promise<Answer> {
  const request = httpRequest({ host: '127.0.0.1', port, method, path, headers }).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

/** An upload of which only the first bytes are sent. */
function beginUpload(name: string): ClientRequest {
  const headers = { origin: `http://${host()}`, cookie, 'content-length': '1000' };
  const path = `/upload/${name}`;
  const request = httpRequest({ host: '127.0.0.1', port: server.port, method: 'PUT', path, headers });
  request.on('error', () => undefined);
  request.write('>a\n');
  return request;
}

/** 101 if the socket opens, else the status with which it was refused. */
function openSocket(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const socket = new WebSocket(`ws://${host()}${path}`, { headers });
  return new Promise<number | undefined>((resolve) => {
    socket.on('upgrade', ({ statusCode }) => resolve(statusCode));
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
    socket.on('error', () => undefined);
  }).finally(() => socket.terminate());
}

describe('the entrance', () => {
  it('sets a cookie that scripts and other sites cannot use, and accepts the token once', async () => {
    const path = `/${new URL(server.address()).search}`;
    const first = await send('GET', path);
    expect(first.headers['set-cookie']?.[0]).toMatch(
      new RegExp(`^virnucpro-${server.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    const again = await send('GET', path);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(server.address()).not.toContain(path);
  });

  it('shows the window to anybody on this computer, which by itself can do nothing', async () => {
    const page = await send('GET', '/?token=wrong');
    expect(page.status).toBe(200);
    expect(page.headers['set-cookie']).toBeUndefined();
    for (const [method, path] of [
      ['GET', '/rpc'],
      ['PUT', '/upload/a.fa'],
      ['GET', '/download/x/y'],
    ] as const) {
      const answer = await send(method, path, { origin: `http://${host()}`, cookie: 'virnucpro-1=x' });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(await openSocket('/rpc', { origin: `http://${host()}` })).toBe(401);
  });
});

describe('where a request comes from', () => {
  it('opens a socket only to a page of this server with the cookie', async () => {
    const origin = `http://${host()}`;
    expect(await openSocket('/rpc', { origin, cookie })).toBe(101);
    expect(await openSocket('/other', { origin, cookie })).toBe(404);
    expect(await openSocket('/rpc', { origin: 'https://evil.example', cookie })).toBe(403);
    expect(await openSocket('/rpc', { cookie })).toBe(403);
    expect(await openSocket('/rpc', { origin: 'http://evil.example', host: 'evil.example', cookie })).toBe(
      403,
    );
  });

  it('answers under no other name, and sends no header that would let another site read an answer', async () => {
    expect((await send('GET', '/', { host: 'evil.example' })).status).toBe(403);
    expect((await send('GET', '/', { host: `localhost:${server.port}` })).status).toBe(200);
    const answer = await send('GET', '/', { origin: 'https://evil.example' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(answer.headers['content-security-policy']).toContain(`connect-src 'self' ws://${host()}`);
    expect(answer.headers['content-security-policy']).toContain("script-src 'self';");
    expect((await send('POST', '/')).status).toBe(405);
  });

  it('accepts uploads only from its own page, each into its own folder', async () => {
    const put = (origin: string, name = '../../β sample.fa') =>
      send('PUT', `/upload/${encodeURIComponent(name)}`, { origin, cookie }, '>a\nACGT\n');
    expect((await put('https://evil.example')).status).toBe(403);
    const received = await put(`http://${host()}`);
    expect(received.status).toBe(201);
    const { path } = JSON.parse(received.body) as { path: string };
    const uploads = join(folder, 'data', 'uploads');
    expect(dirname(dirname(path))).toBe(uploads);
    expect(basename(path)).toBe('β sample.fa');
    expect(await readFile(path, 'utf8')).toBe('>a\nACGT\n');
    if (process.platform !== 'win32') expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    const inFolder = JSON.parse((await put(`http://${host()}`, '../x/../.y/a.fa')).body) as { path: string };
    expect(relative(uploads, inFolder.path).split(sep).slice(1)).toEqual(['x', 'y', 'a.fa']);
  });

  it('accepts no more bytes of a file than announced, so that there is room for it', async () => {
    const headers = { origin: `http://${host()}`, cookie, 'transfer-encoding': 'chunked' };
    expect((await send('PUT', '/upload/chunked.fa', headers, '>a\n')).status).toBe(507);
  });

  it('gives an upload all the time it needs, as long as data arrives', async () => {
    const started = new Promise<{ request: IncomingMessage; server: Server }>((resolve) => {
      subscribe('http.server.request.start', function heard(message) {
        unsubscribe('http.server.request.start', heard);
        resolve(message as { request: IncomingMessage; server: Server });
      });
    });
    const sending = beginUpload('slow.fa');
    const { request, server: listening } = await started;
    await expect.poll(() => request.socket.timeout).toBeGreaterThan(0);
    // Node's own limits, for the whole request and for its headers.
    expect(listening.requestTimeout).toBe(0);
    expect(listening.headersTimeout).toBeGreaterThan(0);
    const ended = new Promise((resolve) => sending.once('close', resolve));
    request.socket.emit('timeout');
    await ended;
  });

  it('keeps nothing of an interrupted upload', async () => {
    const kept = () => readdir(join(folder, 'data', 'uploads'), { recursive: true }).catch(() => []);
    const request = beginUpload('big.fa');
    await sleep(100);
    request.destroy();
    await expect.poll(async () => (await kept()).filter((path) => path.includes('big.fa'))).toEqual([]);
  });
});

it('accepts the addresses and the name of its computer if it listens on all, and the name of its proxy', async () => {
  const everywhere = await startServer(service, {
    ...options,
    host: '0.0.0.0',
    allowNetwork: true,
    publicName: 'Virnuc.lab.example',
  });
  const own = Object.values(networkInterfaces()).flatMap((one) => (one ?? []).filter(({ family }) => family === 'IPv4')); // prettier-ignore
  const statusFor = async (name: string) =>
    (await send('GET', '/', { host: name }, undefined, everywhere)).status;
  for (const name of [hostname(), ...own.map(({ address }) => address), 'virnuc.lab.example'])
    expect([name, await statusFor(`${name}:4170`)]).toEqual([name, 200]);
  expect(await statusFor('evil.example:4170')).toBe(403);
  expect(await statusFor('0.0.0.0:4170')).toBe(403);
  expect(everywhere.address()).toMatch(/^https:\/\/Virnuc\.lab\.example\//);
  await everywhere.close();
});

it('listens beyond this computer only when asked to', async () => {
  await expect(startServer(service, { ...options, host: '0.0.0.0' })).rejects.toMatchObject({
    error: { code: 'usage' },
  });
});

it('reports which port is in use', async () => {
  await expect(startServer(service, { ...options, port: server.port })).rejects.toMatchObject({
    error: { cause: `Port ${server.port} is in use already.` },
  });
});

it('confines a window to its root, with links resolved', async () => {
  const root = join(folder, 'root');
  await mkdir(join(root, 'inside'), { recursive: true });
  await symlink('/etc', join(root, 'escape'));
  await symlink(join(folder, 'to be made'), join(root, 'loose'));
  await symlink('circle', join(root, 'circle'));
  const policy = await rootPolicy(root);
  expect(await policy.allows(join(root, 'inside', 'to be made', 'x.fa'))).toBe(true);
  expect(await policy.allows(root)).toBe(true);
  expect(await policy.allows(join(root, 'circle', 'x.fa'))).toBe(true);
  const outside = ['..', 'escape/passwd', 'loose', 'loose/x.fa', `escape${'/x'.repeat(2000)}`];
  for (const path of [...outside.map((name) => join(root, name)), '/etc/passwd', `${root}-other/x`]) {
    expect(await policy.allows(path), path).toBe(false);
  }
});

it.each([
  ['reads.fastq.gz', 'reads.fastq.gz'],
  ['a/b\\c:d.fa', 'a_b_c_d.fa'],
  ['..', 'upload.fasta'],
  ['.hidden.fa', 'hidden.fa'],
  ['x'.repeat(300) + '.fasta.gz', 'x'.repeat(191) + '.fasta.gz'],
  ['evil\u0000\u202Ename.fa', 'evil__name.fa'],
])('shortens and cleans an uploaded name for the file system: %s', (name, kept) => {
  expect(uploadName(name)).toBe(kept);
});
