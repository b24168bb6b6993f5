import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { SAMPLE, temporaryFolder } from '../engine/testing/testContext.ts';
import { socketClient } from '../server/testing/socketClient.ts';
import { waitUntil } from './testing/commandLineProcess.ts';

/** The server gives itself a third of it. */
const ENDS_MS = 30_000;
const checkout = dirname(dirname(SAMPLE));
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

it.skipIf(process.platform === 'win32')(
  'SIGTERM ends serve though SQLite does not come back to one of its threads',
  async () => {
    const parent = await temporaryFolder();
    const [home, run] = [join(parent, 'home'), join(parent, 'files', 'run')];
    for (const folder of [run, join(home, 'dist', 'renderer')]) await mkdir(folder, { recursive: true });
    // An installed program, whose window need not be built.
    await writeFile(join(home, 'dist', 'renderer', 'index.html'), '<!doctype html>');
    for (const name of ['python-backend', 'resources']) await symlink(join(checkout, name), join(home, name));
    await writeFile(join(run, 'run.db'), '');

    const script = join(import.meta.dirname, 'testing', 'endlessServe.ts');
    const flags = ['--port', '0', '--root', join(parent, 'files'), '--python', '/nowhere/python'];
    const server = spawn(process.execPath, [script, 'serve', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, VIRNUCPRO_HOME: home, VIRNUCPRO_DATA_DIR: join(parent, 'data') },
    });
    child = server;
    const ended = new Promise((resolve) => server.once('exit', (code, signal) => resolve(code ?? signal)));
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
    expect(await Promise.race([ended, late])).toBe('SIGTERM');
    expect(await opening).toBeInstanceOf(Error);
    close();
    await rm(parent, { recursive: true });
  },
);
