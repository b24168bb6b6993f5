import { posix } from 'node:path';
import type { System } from './system.ts';
import { UNIX } from './unix.ts';

export interface MacosCalls {
  /** What a program writes; raises where it fails. */
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
    usesAmd: false,
    networkFileSystem: (folder) => networkTypeOf(calls.realPath(folder), calls.outputOf('/sbin/mount', [])),
    processEntry: (pid) => {
      const text = calls.outputOf('/bin/ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
      const found = /^\s*(\w)\S*\s+(.+?)\s*$/.exec(text);
      return found ? { state: found[1] ?? '', start: found[2] ?? '' } : null;
    },
    hasInEnvironment: (pid, entry) =>
      calls
        .outputOf('/bin/ps', ['eww', '-o', 'command=', '-p', String(pid)])
        .split(/\s+/)
        .includes(entry),
  };
}

/** macOS 11 to 15 are Darwin 20 to 24; since macOS 26, which is Darwin 25, they differ by one. */
function majorOf(darwin: string): number {
  const major = Number.parseInt(darwin, 10);
  return major >= 25 ? major + 1 : major - 9;
}

/** `mounts` are lines as /sbin/mount prints them: `//me@nas/data on /Volumes/data (smbfs, nodev)`. */
function networkTypeOf(path: string, mounts: string): string | null {
  let longest = '';
  let type = '';
  for (const line of mounts.split('\n')) {
    const match = /^.* on (\/.*) \(([^,)]+)/.exec(line);
    if (!match?.[1] || !match[2]) continue;
    const point = match[1];
    const holds = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (holds && point.length > longest.length) [longest, type] = [point, match[2]];
  }
  return NETWORK_TYPES.has(type) ? type : null;
}
