import { win32 } from 'node:path';
import type { System } from './types.ts';

export interface WindowsCalls {
  realPath: (folder: string) => string;
}

export function windows(calls: WindowsCalls): System {
  return {
    platform: 'win32',
    dataFolder: (env, home) =>
      win32.join(env['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local'), 'VirNucPro Desktop'),
    interpreterIn: (environment) => win32.join(environment, 'Scripts', 'python.exe'),
    nvidiaSmi: (env) => win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'nvidia-smi.exe'),
    macosMajor: () => null,
    hasMusl: () => false,
    usesAmd: false,
    // 260 with the zero at the end. More only where an administrator has switched it on, and the program asks for it.
    longestPath: 259,
    // Virus scanners and search indexes open a file right after it was written. Together about two and a half seconds.
    renamePausesMs: [10, 20, 40, 80, 160, 320, 640, 1280],
    syncsFolders: false,
    // It has no ControlMaster.
    sharesSsh: false,
    networkFileSystem: (folder) => (isUncPath(folder) || isUncPath(behind(folder, calls)) ? 'unc' : null),
    syncClient: (folder, env, home) => {
      const places: [string, string | undefined][] = [
        ['OneDrive', env['OneDrive']],
        // An employer's and one's own, where there are both.
        ['OneDrive', env['OneDriveCommercial']],
        ['OneDrive', env['OneDriveConsumer']],
        ['iCloud Drive', win32.join(home, 'iCloudDrive')],
        ['Dropbox', win32.join(home, 'Dropbox')],
      ];
      return places.find(([, place]) => place && isWithin(folder, place))?.[0] ?? null;
    },
    isFat: () => false,
    processEntry: () => null,
  };
}

/** Small and capital letters are the same there. */
function isWithin(folder: string, place: string): boolean {
  const path = win32.relative(place, folder);
  return !path.startsWith('..') && !win32.isAbsolute(path);
}

/** A mapped drive such as Z: leads to its server. Some disks made of memory don't say, and are local. */
function behind(folder: string, calls: WindowsCalls): string {
  try {
    return calls.realPath(folder);
  } catch {
    return folder;
  }
}

function isUncPath(path: string): boolean {
  return /^(\\\\|\/\/)(?![.?][\\/])/.test(path) || /^\\\\\?\\UNC\\/i.test(path);
}
