/** `npm start`: opens the app, in Electron where its program is there or can be fetched, else in the browser. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { resolveAppPaths } from '../electron/engine/environment/appPaths.ts';
import { shellLogFile } from '../electron/engine/service/computer/shellLog.ts';
import { buildDesktop } from './buildDesktop.ts';
import { buildWindow } from './buildWindow.ts';
import { fetchElectron, findElectron, missingDisplay } from './electronBinary.ts';

const root = join(import.meta.dirname, '..');
await buildWindow();
process.exitCode = await start();

async function start(): Promise<number> {
  const noWindow = missingDisplay();
  if (noWindow !== undefined) return inBrowser(noWindow);
  const here = findElectron();
  const electron = here.found ? here : await fetchElectron();
  if (!electron.found) return inBrowser(electron.reason);
  await buildDesktop();
  const before = logSize();
  const result = await execa(electron.file, [root, ...process.argv.slice(2)], {
    cwd: root,
    // Set by some editors' terminals, it would make Electron a plain Node.
    env: { ELECTRON_RUN_AS_NODE: undefined },
    stdio: 'inherit',
    reject: false,
    forceKillAfterDelay: false,
  });
  // One that has not even begun its log could not start at all, such as without the right to make a sandbox.
  if (result.failed && logSize() === before) {
    return inBrowser('Electron could not start here; its reason is above');
  }
  return result.exitCode ?? 1;
}

function logSize(): number {
  const paths = resolveAppPaths({ startFolder: root });
  return paths.ok ? (statSync(shellLogFile(paths.value), { throwIfNoEntry: false })?.size ?? 0) : 0;
}

async function inBrowser(reason: string): Promise<number> {
  process.stderr.write(`Opening in the browser, since ${reason}.\n`);
  const result = await execa(
    process.execPath,
    [join(root, 'electron', 'cli', 'main.ts'), 'serve', '--open', ...process.argv.slice(2)],
    { cwd: root, stdio: 'inherit', reject: false, forceKillAfterDelay: false },
  );
  return result.exitCode ?? 1;
}
