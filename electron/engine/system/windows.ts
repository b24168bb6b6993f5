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
    // 260 including the terminating zero. Longer paths work only if an administrator has enabled them and the
    // program requests it.
    longestPath: 259,
    // Virus scanners and search indexes open a file right after it was written. The pauses add up to about
    // two and a half seconds.
    renamePausesMs: [10, 20, 40, 80, 160, 320, 640, 1280],
    syncsFolders: false,
    // Windows' OpenSSH has no ControlMaster.
    sharesSsh: false,
    networkFileSystem: (folder) => (isUncPath(folder) || isUncPath(behind(folder, calls)) ? 'unc' : null),
    processEntry: () => null,
    limitOwnMemory: () => undefined,
  };
}

/** A mapped drive such as Z: resolves to its server. Some RAM disks have no target, and are local. */
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
