/**
 * `npm start`: sets this computer up if necessary, then opens the app: in Electron if its program is there or
 * can be downloaded, otherwise in the browser.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import {
  resolveAppPaths,
  networkVariables,
  readSetupSettings,
} from '../electron/engine/environment/appPaths.ts';
import { shellLogFile } from '../electron/engine/service/computer/diagnostics.ts';
import { stepLines } from '../electron/engine/environment/steps.ts';
import { describeTrials } from '../electron/engine/devices/check/trial.ts';
import { setUp } from '../electron/engine/setup/setUp.ts';
import { buildToStart } from './buildToStart.ts';
import { buildWindow } from './buildWindow.ts';
import { fetchElectron, findElectron, missingDisplay } from './electronBinary.ts';

const root = join(import.meta.dirname, '..');
await setUpHere();
await buildWindow();
process.exitCode = await start();

async function start(): Promise<number> {
  const noWindow = missingDisplay();
  if (noWindow !== undefined) return inBrowser(noWindow);
  const here = findElectron();
  const electron = here.found ? here : await fetchElectron();
  if (!electron.found) return inBrowser(electron.reason);
  const app = await buildToStart();
  const before = logSize();
  const result = await execa(electron.file, [app, ...process.argv.slice(2)], {
    cwd: root,
    // Some editors set this variable in their terminals; it would make Electron run as plain Node.
    env: { ELECTRON_RUN_AS_NODE: undefined },
    stdio: 'inherit',
    reject: false,
    forceKillAfterDelay: false,
  });
  // If Electron has not even started its log, it could not start at all, for example because it may not
  // create a sandbox.
  if (result.failed && logSize() === before) {
    return inBrowser('Electron could not start here; its reason is above');
  }
  return result.exitCode ?? 1;
}

/**
 * Does what the window's own set-up does, with progress on the terminal. If it fails, the window opens all
 * the same: it shows what is missing and continues the set-up.
 */
async function setUpHere(): Promise<void> {
  const paths = resolveAppPaths({ startFolder: root });
  if (!paths.ok) return;
  const write = (line: string): void => void process.stderr.write(`${line}\n`);
  const settings = readSetupSettings(paths.value.usualDataDir);
  const ready = await setUp({
    paths: paths.value,
    interpreter: (process.env['VIRNUCPRO_PYTHON'] || settings.interpreter) ?? undefined,
    env: networkVariables(settings),
    onProgress: stepLines(write),
  });
  if (ready.ok) {
    for (const remark of ready.value.remarks) write(remark);
    if (ready.value.devices !== null) write(describeTrials(ready.value.devices).sentence);
    return;
  }
  const { title, cause, nextStep } = ready.error;
  write(
    `${title}. ${cause}\n  What to do: ${nextStep}\n  The window opens all the same; its computer check can repeat this.`,
  );
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
