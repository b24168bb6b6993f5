import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { afterAll, expect, it } from 'vitest';
import { hashFile } from '../system/hashFile.ts';
import { installServer, lookAtSystem, type ServerPackage } from './remoteServer.ts';
import type { SshClient } from './sshClient.ts';

const folder = mkdtempSync(join(tmpdir(), 'install server '));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Like a tar made on Windows: no file in it is executable. */
async function packageOfWindows(): Promise<ServerPackage> {
  for (const name of ['node', 'uv/uv', 'virnucpro.mjs']) {
    const file = join(folder, 'package', name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o600);
  }
  const path = join(folder, 'package.tgz');
  await execa('tar', ['-czf', path, '-C', folder, 'package']);
  const sha256 = await hashFile(path);
  return { path, bytes: statSync(path).size, sha256, version: '1.0.0', id: `1.0.0-${sha256.slice(0, 12)}` };
}

it.skipIf(process.platform === 'win32')(
  'makes the programs of a package from Windows executable, and deletes old versions that nothing runs',
  async () => {
    const env = { XDG_DATA_HOME: join(folder, 'data') };
    const ssh = {
      address: 'gpu',
      run: async (command: string, input?: Readable) =>
        (await execa('sh', ['-c', command], { env, input: input ?? '' })).stdout,
    } as unknown as SshClient;
    const file = await packageOfWindows();
    const programs = join(folder, 'data', 'virnucpro-server');
    const servers = join(folder, 'data', 'virnucpro-desktop', 'servers');
    mkdirSync(servers, { recursive: true });
    writeFileSync(join(servers, 'gpu.json'), JSON.stringify({ program: join(programs, '0.2-running') }));
    const yesterday = new Date(Date.now() - 25 * 60 * 60_000);
    for (const name of ['0.1-old', '0.2-running', '0.3-new']) {
      mkdirSync(join(programs, name), { recursive: true });
      if (name !== '0.3-new') utimesSync(join(programs, name), yesterday, yesterday);
    }
    const look = () => lookAtSystem(ssh, file);
    await installServer(ssh, file, await look(), () => undefined, new AbortController().signal);
    expect((await look()).installed).toBe(true);
    expect(statSync(join(programs, file.id, 'uv', 'uv')).mode & 0o777).toBe(0o700);
    expect(readdirSync(programs).toSorted()).toEqual(['0.2-running', '0.3-new', file.id].toSorted());
  },
);
