import { posix } from 'node:path';
import { type ProcessEntry, type System, UNIX } from './types.ts';

export interface LinuxCalls {
  readText: (file: string) => string;
  /** `f_type` of statfs. */
  fileSystemType: (folder: string) => number;
  hasGlibc: () => boolean;
  /** Standard output of a program; throws if it fails. */
  outputOf: (file: string, args: readonly string[]) => string;
}

/**
 * File systems on which memory maps or locks are not visible to other hosts in the way that SQLite's WAL
 * requires.
 */
const NETWORK_TYPES = new Map<number, string>([
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

export function linux(calls: LinuxCalls): System {
  return {
    ...UNIX,
    platform: 'linux',
    dataFolder: (env, home) =>
      posix.join(env['XDG_DATA_HOME'] || posix.join(home, '.local', 'share'), 'virnucpro-desktop'),
    nvidiaSmi: () => 'nvidia-smi',
    macosMajor: () => null,
    hasMusl: () => !calls.hasGlibc(),
    // On some architectures statfs returns a signed word.
    networkFileSystem: (folder) => NETWORK_TYPES.get(calls.fileSystemType(folder) >>> 0) ?? null,
    processEntry: (pid) =>
      entryOf(calls.readText(`/proc/${pid}/stat`), calls.readText('/proc/sys/kernel/random/boot_id')),
    // A process that is ended for its memory leaves no copy of it on the disk.
    limitOwnMemory: (bytes) =>
      void calls.outputOf('prlimit', ['--pid', String(process.pid), `--data=${bytes}`, '--core=0']),
  };
}

/**
 * The second field is the program's name in parentheses, which may contain anything; the third is the state,
 * and the 22nd the start in clock ticks since boot, so the boot is part of the identity.
 */
function entryOf(stat: string, boot: string): ProcessEntry {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: afterName[0] ?? '', start: `${boot.trim()} ${afterName[19]}` };
}
