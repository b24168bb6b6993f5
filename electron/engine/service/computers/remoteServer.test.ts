import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProcessAlive } from '../../system/liveProcess.ts';
import { temporaryFolder } from '../../testing/testContext.ts';
import { endServer, reachServer } from './remoteServer.ts';
import type { Tunnel } from './tunnel.ts';
import type { SshClient } from './sshClient.ts';

const CHILD = fileURLToPath(new URL('testing/serverChild.ts', import.meta.url));

let ssh: SshClient;
const pids = new Set<number>();

beforeEach(() => {
  const env = { VIRNUCPRO_DATA_DIR: temporaryFolder() };
  ssh = {
    address: 'gpu',
    run: async (command: string) => (await execa('sh', ['-c', command], { env })).stdout,
    tunnel: (port: number) => Promise.resolve(port),
  } as unknown as SshClient;
});
afterEach(() => {
  for (const pid of pids) if (isProcessAlive(pid)) process.kill(pid, 'SIGKILL');
  pids.clear();
});

async function start(program: string): Promise<Tunnel> {
  const tunnel = await reachServer(ssh, `"${process.execPath}" "${CHILD}" ${program}`);
  pids.add(tunnel.server.pid);
  return tunnel;
}

describe.skipIf(process.platform !== 'linux')('the server on another computer', () => {
  it('is one, however many connections start it, also after it was killed', async () => {
    const [first, ...others] = await Promise.all([start('one'), start('one'), start('one')]);
    expect(others).toEqual([first, first]);
    expect(await start('two')).toEqual(first);
    process.kill(first.server.pid, 'SIGKILL');
    await expect.poll(() => isProcessAlive(first.server.pid)).toBe(false);
    const second = await start('one');
    expect(second.server.pid).not.toBe(first.server.pid);
    expect(await endServer({ ssh, tunnel: second })).toBe(true);
    expect(isProcessAlive(second.server.pid)).toBe(false);
  });

  it('says what it wrote if it does not start', async () => {
    await expect(reachServer(ssh, 'ls')).rejects.toMatchObject({
      error: { code: 'server_not_started', detail: expect.stringContaining('--for-ssh') as string },
    });
  });
});
