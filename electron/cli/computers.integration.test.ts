import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFakeSsh } from '../engine/computers/testing/fakeSsh.ts';
import { temporaryFolder } from '../engine/testing/testContext.ts';
import { ended, virnucpro, type Ending } from './testing/commandLineProcess.ts';

it.skipIf(process.platform !== 'linux')(
  'removing a computer uninstalls the program there, unless it is computing',
  async () => {
    const folder = await temporaryFolder();
    const home = join(folder, 'far home');
    const ssh = makeFakeSsh(join(folder, 'ssh'), { home });
    const share = join(home, '.local', 'share');
    const [program, weights] = [join(share, 'virnucpro-server', 'abc'), join(share, 'virnucpro-desktop')];
    for (const each of [program, weights]) mkdirSync(each, { recursive: true });
    let atWork = true;
    const server = createServer((_, response) => response.end(JSON.stringify({ version: '1', atWork })));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const place = join(weights, 'servers', hostname());
    mkdirSync(join(weights, 'servers'));
    const lock = `exec 9>'${place}.lock'; flock 9; echo; exec sleep 600`;
    const holder = spawn('sh', ['-c', lock], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(holder.stdout, 'data');
    const record = {
      port,
      pid: holder.pid,
      version: '1',
      hostName: '',
      uploads: '',
      program: '',
      cookie: '',
    };
    writeFileSync(`${place}.json`, JSON.stringify(record));
    const computers = (...words: string[]): Promise<Ending> =>
      ended(
        virnucpro(['computers', ...words], {
          env: { PATH: `${ssh}:${process.env['PATH'] ?? ''}`, VIRNUCPRO_DATA_DIR: join(folder, 'data') },
        }),
      );

    expect((await computers('add', '--', '-oProxyCommand=touch')).code).toBe(1);
    // Adding a computer twice lists it once.
    for (const name of ['Near', 'Far'])
      expect((await computers('add', 'anna@far', '--name', name)).code).toBe(0);
    expect((await computers('list', '--json')).output).toBe('[{"name":"Far","address":"anna@far"}]\n');

    expect((await computers('remove', 'Far')).code).toBe(1);
    expect(existsSync(program)).toBe(true);
    expect(holder.exitCode).toBeNull();
    atWork = false;
    const removed = await computers('remove', 'Far');
    expect(removed.code, removed.output).toBe(0);
    expect(existsSync(join(share, 'virnucpro-server'))).toBe(false);
    expect(holder.signalCode).toBe('SIGTERM');
    server.close();
    expect(existsSync(weights)).toBe(true);
    expect((await computers('list', '--json')).output).toBe('[]\n');
  },
);
