/**
 * Tests `npm run dev -- --memory` from its start to a call that reaches the engine through the window's own
 * address.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../electron/engine/service/computers/sshClient.ts';

it('serves the window with hot reload in front of the in-memory engine', async () => {
  const [port, enginePort] = [String(await freePort()), String(await freePort())];
  const dev = execa(
    process.execPath,
    [join(import.meta.dirname, 'dev.ts'), '--memory', '--port', port, '--engine-port', enginePort],
    { reject: false, buffer: false },
  );
  try {
    const window = `http://127.0.0.1:${port}/`;
    const lines = createInterface(dev.stdout);
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        if (line === `Memory engine at ${window}`) resolve();
      });
      lines.once('close', () => reject(new Error('It ended before it was ready')));
    });
    expect(await (await fetch(window)).text()).toContain('/@vite/client');
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, { origin: `http://127.0.0.1:${port}` });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.terminate();
  } finally {
    dev.kill('SIGTERM');
    await dev;
  }
});
