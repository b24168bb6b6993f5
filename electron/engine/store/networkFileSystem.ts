import { execFileSync } from 'node:child_process';
import { realpathSync, statfsSync } from 'node:fs';

/** `f_type` of statfs on Linux for file systems whose memory maps or locks other hosts don't see as SQLite's WAL needs. */
const LINUX_NETWORK_TYPES = new Map<number, string>([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x65735546, 'fuse'],
  [0x0bd00bd0, 'lustre'],
  [0x47504653, 'gpfs'],
  [0x19830326, 'beegfs'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'kafs'],
  [0x00c36400, 'ceph'],
  [0x01021997, '9p'],
  [0x73757245, 'coda'],
  [0x7461636f, 'ocfs2'],
  [0x01161970, 'gfs2'],
  [0xaad7aaea, 'panfs'],
]);

/** These have no time of change that only the system sets. */
const LINUX_FAT_TYPES = new Set([0x4d44, 0x2011bab0]);
const MAC_FAT_TYPES = new Set(['msdos', 'exfat']);

const MAC_NETWORK_TYPES = new Set(['nfs', 'smbfs', 'afpfs', 'webdav', 'macfuse', 'osxfuse', 'fuse-t']);

/** Name of the network file system that holds an existing folder, or null for a local disk. On Windows only UNC paths can
 * be told; a drive letter counts as local. Raises what statfs raises where the folder can't be reached. */
export function networkFileSystem(
  folder: string,
  platform: NodeJS.Platform = process.platform,
): string | null {
  if (platform === 'win32') return isUncPath(folder) ? 'unc' : null;
  if (platform === 'darwin') return macNetworkFileSystem(realpathSync(folder), macMounts());
  return linuxNetworkFileSystem(statfsSync(folder).type);
}

/** Whether an existing folder lies on a disk of this computer whose files have a time of change that only the system sets. On
 * Windows a file without one shows it by a time of 0. */
export function isTrustedDisk(folder: string): boolean {
  if (process.platform === 'win32') return !isUncPath(folder);
  if (process.platform === 'darwin') {
    const type = macFileSystem(realpathSync(folder), macMounts());
    return !MAC_NETWORK_TYPES.has(type) && !MAC_FAT_TYPES.has(type);
  }
  const { type } = statfsSync(folder);
  return linuxNetworkFileSystem(type) === null && !LINUX_FAT_TYPES.has(type >>> 0);
}

function macMounts(): string {
  return execFileSync('/sbin/mount', { encoding: 'utf8' });
}

export function linuxNetworkFileSystem(type: number): string | null {
  // statfs answers with a signed word on some architectures.
  return LINUX_NETWORK_TYPES.get(type >>> 0) ?? null;
}

export function isUncPath(path: string): boolean {
  return /^(\\\\|\/\/)(?![.?][\\/])/.test(path) || /^\\\\\?\\UNC\\/i.test(path);
}

export function macNetworkFileSystem(path: string, mounts: string): string | null {
  const type = macFileSystem(path, mounts);
  return MAC_NETWORK_TYPES.has(type) ? type : null;
}

/** `mounts` are lines as /sbin/mount prints them: `//me@nas/data on /Volumes/data (smbfs, nodev)`. */
function macFileSystem(path: string, mounts: string): string {
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
