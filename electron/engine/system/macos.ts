import { posix } from 'node:path';
import { type System, UNIX } from './types.ts';

export interface MacosCalls {
  /** Returns the output of a program; throws if it fails. */
  outputOf: (file: string, args: readonly string[]) => string;
  realPath: (folder: string) => string;
  kernelRelease: () => string;
}

const NETWORK_TYPES = new Set(['nfs', 'smbfs', 'afpfs', 'webdav', 'macfuse', 'osxfuse', 'fuse-t']);

export function macos(calls: MacosCalls): System {
  return {
    ...UNIX,
    platform: 'darwin',
    dataFolder: (_env, home) => posix.join(home, 'Library', 'Application Support', 'VirNucPro Desktop'),
    nvidiaSmi: () => null,
    macosMajor: () => majorOf(calls.kernelRelease()),
    hasMusl: () => false,
    networkFileSystem: (folder) => {
      const type = typeOf(calls.realPath(folder), calls.outputOf('/sbin/mount', []));
      return NETWORK_TYPES.has(type) ? type : null;
    },
    processEntry: (pid) => {
      const text = calls.outputOf('/bin/ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
      const found = /^\s*(\w)\S*\s+(.+?)\s*$/.exec(text);
      return found ? { state: found[1] ?? '', start: found[2] ?? '' } : null;
    },
  };
}

/** macOS 11 to 15 are Darwin 20 to 24; since macOS 26, which is Darwin 25, the numbers differ by one. */
function majorOf(darwin: string): number {
  const major = Number.parseInt(darwin, 10);
  return major >= 25 ? major + 1 : major - 9;
}

/** `mounts` are lines printed by /sbin/mount: `//me@nas/data on /Volumes/data (smbfs, nodev)`. */
function typeOf(path: string, mounts: string): string {
  let longest = '';
  let type = '';
  for (const line of mounts.split('\n')) {
    const match = /^.* on (\/.*) \(([^,)]+)/.exec(line);
    if (!match?.[1] || !match[2]) continue;
    const point = match[1];
    const holds = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (holds && point.length > longest.length) [longest, type] = [point, match[2]];
  }
  return type;
}
