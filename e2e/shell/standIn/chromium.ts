/** The single Chromium behind all windows of an app, started with the first of them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findChromium } from '../../support/findChromium.ts';
import { DevTools } from './devtools.ts';

const SIZE = '1440,900';

let program: ChildProcess | undefined;
let started: Promise<DevTools> | undefined;

/** `profile` is the folder where Electron, too, keeps Chromium's files: below the app's userData. */
export function chromium(profile: string): Promise<DevTools> {
  started ??= start(profile);
  return started;
}

async function start(profile: string): Promise<DevTools> {
  mkdirSync(profile, { recursive: true });
  const asRoot = process.getuid?.() === 0 || process.argv.includes('--no-sandbox');
  program = spawn(
    findChromium() ?? 'chromium',
    [
      '--headless=new',
      '--remote-debugging-port=0',
      `--user-data-dir=${join(profile, 'Chromium')}`,
      `--window-size=${SIZE}`,
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      // Hidden windows keep running, as they do in Electron until they have painted.
      '--disable-renderer-backgrounding',
      '--disable-backgrounding-occluded-windows',
      ...(asRoot ? ['--no-sandbox'] : []),
      'about:blank',
    ],
    // It gets a process group of its own, since the program is often a script that starts the real one.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  program.unref();
  const { stderr } = program;
  if (!stderr) throw new Error('Chromium has no output');
  const lines = createInterface(stderr);
  const printed: string[] = [];
  const endpoint = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      printed.push(line);
      const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
    program?.once('error', reject);
    program?.once('exit', () => reject(new Error(`Chromium ended at once:\n${printed.join('\n')}`)));
  });
  process.send?.({ type: 'devtools', endpoint });
  return DevTools.connect(endpoint);
}

/** It ends with the app, like the processes of Electron's windows. */
export function killChromium(): void {
  if (program?.pid === undefined || program.exitCode !== null || program.signalCode !== null) return;
  if (process.platform === 'win32') program.kill('SIGKILL');
  else process.kill(-program.pid, 'SIGKILL');
}
