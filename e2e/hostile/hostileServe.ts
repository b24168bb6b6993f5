import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { request } from 'node:http';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { RunSummary } from '../../electron/contract/index.ts';
import { SAMPLE } from '../../electron/engine/testing/realFiles.ts';
import type { SocketClient } from '../../electron/server/testing/socketClient.ts';

/** An attempt by a page or by a program that reaches the port. Throws if it was not refused. */
export interface HostileRequest {
  name: string;
  attempt: (server: ServerUnderAttack) => Promise<void>;
}

export interface ServerUnderAttack {
  port: number;
  cookie: string;
  window: SocketClient;
  /** The folder whose files windows may see. */
  root: string;
}

interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

function ask(port: number, { method = 'GET', path = '/', headers = {}, body }: Asked): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
    sent.on('error', (reason: NodeJS.ErrnoException) => {
      // A connection that is closed in the middle of a request counts as an answer, too.
      if (reason.code === 'ECONNRESET' || reason.code === 'EPIPE') resolve(0);
      else reject(reason);
    });
    sent.end(body);
  });
}

async function refuses(port: number, asked: Asked): Promise<void> {
  const status = await ask(port, asked);
  if (status >= 200 && status < 300)
    throw new Error(`${JSON.stringify(asked).slice(0, 200)}: answered with ${status}`);
}

const HOSTS = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '0.0.0.0',
  '192.168.1.7',
  'xn--localhost-',
  '[::2]',
];
const PATHS = [
  '/../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/..%2f..%2fetc/passwd',
  '/assets/../../package.json',
  '//etc/passwd',
  '/\\..\\..\\etc\\passwd',
  `/${'a/'.repeat(20_000)}`,
];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const UPLOADS = ['..%2f..%2fescaped', 'run.db', 'CON', 'a%0d%0aSet-Cookie:x', '%2e%2e', 'x'.repeat(400)];

const entrance: HostileRequest[] = [
  {
    name: 'a socket without a cookie, or with a wrong one',
    attempt: async ({ port }) => {
      for (const cookie of ['', 'virnucpro=wrong', '__proto__=x']) {
        const opened = await new Promise<boolean>((resolve) => {
          const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, {
            headers: { cookie, origin: `http://127.0.0.1:${port}` },
          });
          socket.on('open', () => {
            resolve(true);
            socket.close();
          });
          socket.on('error', () => {
            resolve(false);
          });
        });
        if (opened) throw new Error(`A socket opened with the cookie "${cookie}".`);
      }
    },
  },
  {
    name: 'a socket from a page of another site',
    attempt: async ({ port, cookie }) => {
      const opened = await new Promise<boolean>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, {
          headers: { cookie, origin: 'https://evil.example' },
        });
        socket.on('open', () => {
          resolve(true);
          socket.close();
        });
        socket.on('error', () => {
          resolve(false);
        });
      });
      if (opened) throw new Error('A socket opened for a page of another site.');
    },
  },
  {
    name: 'another name for this computer (DNS rebinding)',
    attempt: async ({ port, cookie }) => {
      for (const host of HOSTS) await refuses(port, { headers: { host, cookie } });
    },
  },
  {
    name: 'paths that lead out of the page',
    attempt: async ({ port, cookie }) => {
      for (const path of PATHS) {
        const status = await ask(port, { path, headers: { cookie, host: `127.0.0.1:${port}` } });
        if (status === 200) throw new Error(`${path.slice(0, 80)} was answered.`);
      }
    },
  },
  {
    name: 'requests that another site could send',
    attempt: async ({ port, cookie }) => {
      for (const method of METHODS)
        await refuses(port, {
          method,
          path: '/rpc',
          headers: { cookie, host: `127.0.0.1:${port}`, origin: 'https://evil.example' },
        });
    },
  },
];

const uploads: HostileRequest[] = [
  {
    name: 'uploads without a cookie',
    attempt: async ({ port }) => {
      for (const name of UPLOADS)
        await refuses(port, {
          method: 'PUT',
          path: `/upload/${name}`,
          headers: { host: `127.0.0.1:${port}` },
          body: 'x',
        });
    },
  },
  {
    name: 'an upload of more than the disk has',
    attempt: ({ port, cookie }) =>
      refuses(port, {
        method: 'PUT',
        path: '/upload/large.fa',
        headers: {
          host: `127.0.0.1:${port}`,
          origin: `http://127.0.0.1:${port}`,
          cookie,
          'content-length': String(2 ** 50),
        },
      }),
  },
  {
    name: 'uploads whose names lead out',
    attempt: async ({ port, cookie, root }) => {
      for (const name of UPLOADS)
        await ask(port, {
          method: 'PUT',
          path: `/upload/${name}`,
          headers: { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}`, cookie },
          body: 'x',
        });
      const escaped = execFileSync('find', [root, '-name', '*escaped*'], { encoding: 'utf8' });
      if (escaped !== '') throw new Error(`An upload escaped to ${escaped}`);
    },
  },
];

const calls: HostileRequest[] = [
  {
    name: 'files outside of the root, pipes and devices, by every call that takes a path',
    attempt: async ({ window, root }) => {
      const pipe = join(root, 'theirs.fa');
      execFileSync('mkfifo', [pipe]);
      const { runs } = window.client;
      for (const path of ['/etc/passwd', '/dev/zero', pipe, `${root}/../..`, '/proc/self/environ'])
        for (const attempt of [
          () => runs.open({ folder: path }),
          () => runs.create({ inputs: [path], model: 'teaching' }),
        ]) {
          const refused = attempt().then(
            () => false,
            () => true,
          );
          if (!(await withinTime(refused, path))) throw new Error(`${path} was taken.`);
        }
    },
  },
  {
    name: 'the queue goes on after a run whose input is a pipe',
    attempt: async ({ window, root }) => {
      const input = join(root, 'becomes-a-pipe.fa');
      copyFileSync(SAMPLE, input);
      const request = { model: 'teaching', devices: 'cpu:1' };
      const first = window.client.runs.create({
        ...request,
        inputs: [input],
        outputDir: join(root, 'first'),
      });
      await withinTime(first, 'the first run');
      rmSync(input);
      execFileSync('mkfifo', [input]);
      const own = join(root, 'own.fa');
      copyFileSync(SAMPLE, own);
      const second = window.client.runs.create({
        ...request,
        inputs: [own],
        outputDir: join(root, 'second'),
      });
      const { runId } = await withinTime(second, 'the second run');
      const isDone = async (): Promise<void> => {
        for await (const runs of await window.client.runs.watchAll())
          if (runs.some((run) => run.runId === runId && run.state.phase === 'done')) return;
      };
      await withinTime(isDone(), 'the second run, which must be computed');
    },
  },
];

const load: HostileRequest[] = [
  {
    name: '500 requests that are never finished',
    attempt: async ({ port, window }) => {
      const half = Array.from({ length: 500 }, () => {
        const socket = createConnection(port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n');
        return socket;
      });
      await withinTime(runsOf(window), 'a call beside them');
      for (const socket of half) socket.destroy();
    },
  },
  {
    name: 'garbage, depth and size in place of messages',
    attempt: async ({ port, cookie, window }) => {
      for (const message of [
        '',
        'x',
        '['.repeat(100_000),
        'x'.repeat(15 * 2 ** 20),
        'x'.repeat(17 * 2 ** 20),
      ])
        await new Promise<void>((resolve) => {
          const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, {
            headers: { cookie, origin: `http://127.0.0.1:${port}` },
          });
          const end = (): void => {
            resolve();
          };
          socket.on('error', end).on('close', end);
          socket.on('open', () => {
            socket.send(message, () => setTimeout(() => socket.terminate(), 300));
          });
        });
      await withinTime(runsOf(window), 'a call after them');
    },
  },
  {
    name: '300 windows at once',
    attempt: async ({ port, cookie, window }) => {
      const sockets = Array.from(
        { length: 300 },
        () =>
          new WebSocket(`ws://127.0.0.1:${port}/rpc`, {
            headers: { cookie, origin: `http://127.0.0.1:${port}` },
          }),
      );
      await Promise.all(
        sockets.map((socket) => new Promise((resolve) => socket.on('open', resolve).on('error', resolve))),
      );
      await withinTime(runsOf(window), 'a call beside them');
      for (const socket of sockets) socket.terminate();
    },
  },
];

async function runsOf(window: SocketClient): Promise<readonly RunSummary[]> {
  for await (const runs of await window.client.runs.watchAll()) return runs;
  return [];
}

const ANSWERS_WITHIN_MS = 120_000;

/** A server that does not answer within this time hangs, however busy the computer is. */
function withinTime<T>(answer: Promise<T>, what: string): Promise<T> {
  return Promise.race([
    answer,
    new Promise<never>((_, reject) =>
      setTimeout(() => {
        reject(new Error(`No answer to ${what}.`));
      }, ANSWERS_WITHIN_MS).unref(),
    ),
  ]);
}

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [...entrance, ...uploads, ...calls, ...load];
