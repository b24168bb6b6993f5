import { app } from 'electron';
import { arch, release } from 'node:os';
import type { ShellLog } from '../../engine/index.ts';
import { asAppError } from '../../contract/errors.ts';
import { askBesideLog, askUser } from '../askUser.ts';
import { toldIn } from '../runSignals.ts';
import { shellTexts } from '../shellTexts.ts';
import { appImageFile } from './appImage.ts';

/** Logs what a support request needs when there is no window to copy the diagnostics from. */
export function logShell(log: ShellLog, safeMode: boolean): void {
  const { platform } = process;
  // Plain Node, as in tests, has no such versions.
  const versions: Partial<NodeJS.ProcessVersions> = process.versions;
  const sandbox = app.commandLine.hasSwitch('no-sandbox') ? 'off (--no-sandbox)' : 'on';
  log.write(
    'info',
    `Start of VirNucPro Desktop ${app.getVersion()}${app.isPackaged ? '' : ' from a checkout'} on ${platform} ${release()} ${arch()}, ` +
      `Electron ${versions.electron ?? 'unknown'}, Chromium ${versions.chrome ?? 'unknown'}, Node ${process.versions.node}, ` +
      `sandbox ${sandbox}${safeMode ? ', safe mode' : ''}.`,
  );
  app.once('gpu-info-update', () => {
    log.write('info', `GPU: ${JSON.stringify(app.getGPUFeatureStatus())}`);
  });
  app.on('child-process-gone', (_, { type, reason, exitCode }) => {
    if (reason !== 'clean-exit')
      log.write('error', `Process ${type} has ended: ${reason}, exit code ${exitCode}.`);
  });
  app.on('quit', (_, exitCode) => {
    log.write('info', `End, exit code ${exitCode}.`);
  });
  process.on('unhandledRejection', (reason) => {
    log.write(
      'error',
      `Unhandled rejection: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`,
    );
  });
  process.on('uncaughtExceptionMonitor', (error) => {
    log.write('error', `Uncaught exception: ${error.stack ?? error.message}`);
  });
}

/** Explains why the program cannot start, offers the log if there is one, and quits. */
export async function endAfter(reason: unknown, log?: ShellLog): Promise<void> {
  // Nobody knows the settings yet.
  const language = app.getLocale().startsWith('de') ? 'de' : 'en';
  const t = shellTexts(language);
  const { cause } = asAppError(reason);
  const { title, nextStep } = toldIn(language, asAppError(reason));
  log?.write('error', `Start failed: ${reason instanceof Error ? (reason.stack ?? reason.message) : cause}`);
  const question = {
    type: 'error',
    message: title,
    detail: `${cause}\n${nextStep}${log ? `\n\nLog: ${log.file}` : ''}`,
    choices: [[t('shell.quit'), 'quit']],
    cancel: 'quit',
  } as const;
  await (log ? askBesideLog(question, { log, t }) : askUser(question));
  app.exit(1);
}

/** Ends the program and starts it again, with further switches. */
export function relaunch(...switches: string[]): void {
  const args = [...process.argv.slice(1), ...switches];
  const execPath = appImageFile(process.env);
  app.relaunch({ args, ...(execPath === undefined ? {} : { execPath }) });
  app.quit();
}

/** Draws windows without the graphics card, for drivers that show nothing; runs still use it. */
export const SAFE_MODE_SWITCH = '--safe-mode';
