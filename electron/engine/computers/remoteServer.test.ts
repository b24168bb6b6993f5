import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { afterAll, expect, it } from 'vitest';
import { hashFile } from '../files/hashFile.ts';
import { installServer, lookAtSystem } from './remoteServer.ts';
import type { ServerPackage } from './serverPackage.ts';
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
  'makes the programs of a package from Windows executable',
  async () => {
    const env = { XDG_DATA_HOME: join(folder, 'data') };
    const ssh = {
      run: async (command: string, input?: Readable) =>
        (await execa('sh', ['-c', command], { env, input: input ?? '' })).stdout,
    } as unknown as SshClient;
    const file = await packageOfWindows();
    const look = () => lookAtSystem(ssh, 'gpu', file);
    await installServer(ssh, 'gpu', file, await look(), () => undefined, new AbortController().signal);
    expect((await look()).installed).toBe(true);
    expect(statSync(join(folder, 'data', 'virnucpro-server', file.id, 'uv', 'uv')).mode & 0o777).toBe(0o700);
  },
);
