import { app, clipboard, dialog, shell } from 'electron';
import { asAppError } from '../../contract/errors.ts';
import type { ShellLog } from '../../engine/index.ts';

/** Explains why the program cannot start, offers the log, and quits. */
export async function endAfter(reason: unknown, log: ShellLog): Promise<void> {
  const { title, cause, nextStep } = asAppError(reason);
  log.write('error', `Start failed: ${reason instanceof Error ? (reason.stack ?? reason.message) : cause}`);
  for (let asking = true; asking;) {
    const { response } = await dialog.showMessageBox({
      type: 'error',
      message: title,
      detail: `${cause}\n${nextStep}\n\nLog: ${log.file}`,
      buttons: ['Quit', 'Show the log', 'Copy this text'],
      defaultId: 0,
      cancelId: 0,
      noLink: true,
    });
    if (response === 1) await shell.openPath(log.file);
    else if (response === 2) await clipboard.writeText(`${title}\n${cause}\n${nextStep}`);
    else asking = false;
  }
  app.exit(1);
}
