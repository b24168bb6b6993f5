import { app } from 'electron';

/** Ends the program and starts it again, with further switches. */
export function relaunch(...switches: string[]): void {
  const args = [...process.argv.slice(1), ...switches];
  // An AppImage is mounted at another path at each start, so its file must be started.
  const appImage = process.env['APPIMAGE'];
  app.relaunch({ args, ...(appImage === undefined ? {} : { execPath: appImage }) });
  app.quit();
}

/** Draws windows without the graphics card, for drivers that show nothing; runs still use it. */
export const SAFE_MODE_SWITCH = '--safe-mode';
