import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isProcessAlive } from '../system/liveProcess.ts';
import { temporaryFolder } from '../testing/testContext.ts';
import { endDetached, startDetached, type DetachedStart } from './detachedServer.ts';

const CHILD = fileURLToPath(new URL('testing/serverChild.ts', import.meta.url));

let dataDir: string;
const pids = new Set<number>();

beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => {
  for (const pid of pids) if (isProcessAlive(pid)) process.kill(pid, 'SIGKILL');
  pids.clear();
});

async function start(program: string): Promise<DetachedStart> {
  const started = await startDetached({
    command: [process.execPath, CHILD, dataDir, program],
    dataDir,
    program,
  });
  if (started.outcome === 'running') pids.add(started.server.pid);
  return started;
}
const pidOf = (started: DetachedStart) => (started.outcome === 'running' ? started.server.pid : null);

it('is one server, however many connections start it, also after it was killed', async () => {
  const [first, ...others] = await Promise.all([start('one'), start('one'), start('one')]);
  const pid = pidOf(first) ?? 0;
  expect(others.map(pidOf)).toEqual([pid, pid]);
  expect(pidOf(await start('one'))).toBe(pid);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => isProcessAlive(pid)).toBe(false);
  const second = pidOf(await start('one'));
  expect(second).not.toBe(pid);
  expect(await endDetached(dataDir)).toBe(true);
  expect(isProcessAlive(second ?? 0)).toBe(false);
  expect(readdirSync(join(dataDir, 'servers'))).toEqual([]);
  expect(await endDetached(dataDir)).toBe(true);
});

it('makes way for another version, unless a run is active', async () => {
  const old = pidOf(await start('one')) ?? 0;
  const busy = pidOf(await start('busy')) ?? 0;
  expect([isProcessAlive(old), isProcessAlive(busy)]).toEqual([false, true]);
  expect(await start('two')).toEqual({ outcome: 'busy', version: '1' });
  expect(await endDetached(dataDir)).toBe(false);
  expect(isProcessAlive(busy)).toBe(true);
});

it('says what a server wrote that does not start', async () => {
  const command = [process.execPath, '-e', 'console.log("out of order"); process.exit(1)'];
  await expect(startDetached({ command, dataDir, program: 'one' })).rejects.toMatchObject({
    error: { code: 'server_not_started', detail: 'out of order' },
  });
});
