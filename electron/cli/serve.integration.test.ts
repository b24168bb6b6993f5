import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { APP_PATHS } from '../engine/testing/realFiles.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { socketClient } from '../server/testing/socketClient.ts';
import { ended, virnucpro, waitUntil } from './testing/commandLineProcess.ts';

/** The server's own limit is a third of this. */
const ENDS_MS = 30_000;
const checkout = APP_PATHS.root;
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** A copy of an installed program, whose window need not be built. */
async function installedProgram(parent: string): Promise<string> {
  const home = join(parent, 'home');
  await mkdir(join(home, 'dist', 'renderer'), { recursive: true });
  await writeFile(join(home, 'dist', 'renderer', 'index.html'), '<!doctype html>');
  for (const name of ['python-backend', 'resources']) await symlink(join(checkout, name), join(home, name));
  return home;
}

/** `virnucpro serve` of such a program, which opens the files of the parent. */
async function serve(parent: string, env: Record<string, string> = {}, ...flags: string[]) {
  const home = await installedProgram(parent);
  const words = ['serve', ...flags, '--port', '0', '--root', parent, '--python', '/nowhere/python'];
  const data = join(parent, 'data');
  const server = virnucpro(words, { env: { VIRNUCPRO_HOME: home, VIRNUCPRO_DATA_DIR: data, ...env } });
  child = server;
  return { server, data };
}

it.runIf(process.platform === 'linux')(
  'opens a browser without showing its key on any command line',
  async () => {
    const parent = temporaryFolder();
    const [user, programs] = ['user', 'bin'].map((name) => join(parent, name)) as [string, string];
    for (const folder of [user, programs]) await mkdir(folder);
    const opened = join(parent, 'opened');
    await writeFile(join(programs, 'xdg-open'), `#!/bin/sh\necho "$@" >'${opened}.new'\nmv '${opened}.new' '${opened}'\n`, { mode: 0o755 }); // prettier-ignore
    const env = { HOME: user, DISPLAY: ':9', PATH: `${programs}:${process.env['PATH']}` };
    const { server } = await serve(parent, env, '--open');
    await waitUntil(() => existsSync(opened), 'it opens a browser');
    const page = readFileSync(opened, 'utf8').trim();
    expect(page).not.toContain('token');
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(page)).mode & 0o777).toBe(0o700);
    const address = /url=([^"]+)"/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
    expect((await fetch(address)).headers.get('set-cookie')).toContain('virnucpro-');
    await waitUntil(() => readdirSync(user).length === 0, 'the page is removed once it was used');
    server.kill('SIGTERM');
    await ended(server);
  },
);

it.skipIf(process.platform === 'win32')('SIGTERM while serve starts leaves no database open', async () => {
  const { server, data } = await serve(temporaryFolder());
  await waitUntil(() => existsSync(join(data, 'library.db')), 'it opens its databases');
  server.kill('SIGTERM');
  await ended(server);
  expect(server.exitCode).toBe(0);
  expect(readdirSync(data).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
});

it.skipIf(process.platform === 'win32')(
  'SIGTERM ends serve although a thread is stuck in SQLite',
  async () => {
    const parent = temporaryFolder();
    const [home, run] = [await installedProgram(parent), join(parent, 'files', 'run')];
    await mkdir(run, { recursive: true });
    await writeFile(join(run, 'run.db'), '');

    const script = join(import.meta.dirname, 'testing', 'endlessServe.ts');
    const flags = ['--port', '0', '--root', join(parent, 'files'), '--python', '/nowhere/python'];
    const server = spawn(process.execPath, [script, 'serve', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, VIRNUCPRO_HOME: home, VIRNUCPRO_DATA_DIR: join(parent, 'data') },
    });
    child = server;
    const end = new Promise((resolve) => server.once('exit', (code, signal) => resolve(code ?? signal)));
    const address = await new Promise<string>((resolve) => {
      createInterface({ input: server.stdout }).on('line', (line) => {
        const printed = /is ready: (\S+)/.exec(line)?.[1];
        if (printed !== undefined) resolve(printed);
      });
    });
    const { client, close } = await socketClient(address);
    const opening = client.runs.open({ folder: run }).catch((reason: unknown) => reason);
    await waitUntil(() => existsSync(join(run, 'stuck')), 'a thread is stuck');
    await sleep(1_000);

    server.kill('SIGTERM');
    const late = new Promise((resolve) => setTimeout(() => resolve('it hangs'), ENDS_MS).unref());
    expect(await Promise.race([end, late])).toBe('SIGTERM');
    expect(await opening).toBeInstanceOf(Error);
    close();
  },
);
