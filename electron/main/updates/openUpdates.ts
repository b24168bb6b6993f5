import { app } from 'electron';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppUpdater } from 'electron-updater';
import { z } from 'zod';
import { parseJson } from '../../contract/parseJson.ts';
import type { Service, ShellLog } from '../../engine/index.ts';
import { relaunch } from '../relaunch.ts';
import { releaseAddress } from './releaseAddress.ts';
import { Updates, type NoUpdater, type Updater } from './updates.ts';

const LOOK_EVERY_MS = 60 * 60 * 1000;

/** Written into the packaged package.json by build/pack/pack.ts. */
const packageSchema = z.object({ builtAt: z.iso.date().optional() });

/** Follows newer versions from the start to the end of the program. */
export async function openUpdates(
  service: Service,
  log: ShellLog,
  quitWith: (lastStep: () => void) => void,
): Promise<Updates> {
  const say = (line: string): void => {
    log.write('info', `Updates: ${line}`);
  };
  const updates = new Updates({
    updater: await findUpdater(service, say),
    builtAt: builtAt(),
    isWanted: () => service.settings.current.lookForUpdates,
    isAtWork: () => service.control.queue.active !== null,
    quitWith,
    log: say,
  });
  const look = (): void => void updates.look();
  setInterval(look, LOOK_EVERY_MS).unref();
  service.onRest(look);
  service.settings.subscribe(look);
  look();
  return updates;
}

function builtAt(): Date | null {
  const text = readFileSync(join(app.getAppPath(), 'package.json'), 'utf8');
  const date = parseJson(packageSchema, text)?.builtAt;
  return date === undefined ? null : new Date(date);
}

async function findUpdater(service: Service, say: (line: string) => void): Promise<Updater | NoUpdater> {
  if (!app.isPackaged) return 'by_hand';
  if (releaseAddress(process.resourcesPath) === null) return 'no_address';
  if (process.platform === 'win32' && !hasUninstaller()) return 'by_hand';
  const { autoUpdater } = (await import('electron-updater')).default;
  autoUpdater.logger = { info: say, warn: say, error: say };
  // Not an AppImage, nor installed as a package.
  if (!autoUpdater.isUpdaterActive()) return 'by_hand';
  return updaterOf(autoUpdater, service);
}

export function updaterOf(autoUpdater: AppUpdater, service: Pick<Service, 'settings'>): Updater {
  // Nothing happens that the user did not ask for. On macOS this means that Squirrel gets the new version only when it is installed.
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  return {
    newest: async () => {
      const { proxy } = service.settings.current;
      await autoUpdater.netSession.setProxy(proxy === null ? { mode: 'system' } : { proxyRules: proxy });
      const found = await autoUpdater.checkForUpdates();
      return found?.isUpdateAvailable === true ? found.updateInfo.version : null;
    },
    download: async (onProgress) => {
      const tell = ({ percent }: { percent: number }): void => {
        onProgress(Math.min(1, Math.max(0, percent / 100)));
      };
      autoUpdater.on('download-progress', tell);
      try {
        await autoUpdater.downloadUpdate();
      } finally {
        autoUpdater.off('download-progress', tell);
      }
    },
    install: () => {
      // As where the user gives no password: the program is to be there again all the same.
      autoUpdater.once('error', () => {
        relaunch();
      });
      // Ends the program: on macOS seconds later, when Squirrel has checked the new version.
      autoUpdater.quitAndInstall();
    },
  };
}

/** The zip is unpacked by the user, and must not be replaced by what an installer installs. */
function hasUninstaller(): boolean {
  return readdirSync(dirname(process.execPath)).some((name) => /^Uninstall .*\.exe$/.test(name));
}
