import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findElectron, isReachable, missingDisplay } from './electronBinary.ts';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

describe('opening in Electron or in the browser', () => {
  it('needs a screen only on Linux', () => {
    expect(missingDisplay({}, 'linux')).toBe('this computer has no screen');
    expect(missingDisplay({ DISPLAY: ':0' }, 'linux')).toBeUndefined();
    expect(missingDisplay({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBeUndefined();
    expect(missingDisplay({}, 'darwin')).toBeUndefined();
    expect(missingDisplay({}, 'win32')).toBeUndefined();
  });

  it('connects to the download address through the proxy that the environment names', async () => {
    const asked: string[] = [];
    const proxy = createServer((_, response) => {
      response.end();
    });
    proxy.on('connect', ({ url = '' }, socket) => {
      asked.push(url);
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      // The proxy itself answers what arrives through the tunnel.
      proxy.emit('connection', socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const env = { PATH: process.env['PATH'], HTTP_PROXY: `http://127.0.0.1:${port}` };
    expect(await isReachable('http://releases.invalid/', env)).toBe(true);
    expect(asked).toEqual(['releases.invalid:80']);
    expect(await isReachable('http://releases.invalid/', { PATH: env.PATH })).toBe(false);
    proxy.close();
  });

  it.each([
    ['linux', 'electron'],
    ['win32', 'electron.exe'],
    ['darwin', 'Electron.app/Contents/MacOS/Electron'],
  ] as const)('finds the program of %s in a folder that the environment names', (platform, name) => {
    const folder = temporaryFolder();
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '');
    const found = findElectron({ ELECTRON_OVERRIDE_DIST_PATH: folder }, platform);
    expect(found).toEqual({ found: true, file: join(folder, name) });
  });

  it('explains why Electron cannot be used if its program is missing', () => {
    expect(findElectron({ ELECTRON_OVERRIDE_DIST_PATH: '/nowhere' })).toEqual({
      found: false,
      reason: 'the Electron program is not on this computer',
    });
  });
});
