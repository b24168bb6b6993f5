import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  isUncPath,
  linuxNetworkFileSystem,
  macNetworkFileSystem,
  networkFileSystem,
} from './networkFileSystem.ts';

describe('network file systems', () => {
  it.each([
    [0x6969, 'nfs'],
    [0xff534d42, 'cifs'],
    [0xff534d42 | 0, 'cifs'],
    [0xfe534d42, 'smb2'],
    [0x65735546, 'fuse'],
    [0x0bd00bd0, 'lustre'],
    [0xef53, null],
    [0x58465342, null],
    [0x9123683e, null],
    [0x01021994, null],
  ])('type %i on Linux is %s', (type, name) => {
    expect(linuxNetworkFileSystem(type)).toBe(name);
  });

  it('are found on macOS by the mount that holds the folder', () => {
    const mounts = [
      '/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)',
      '//me@nas/data on /Volumes/data (smbfs, nodev, nosuid, mounted by me)',
      '/dev/disk5s1 on /Volumes/data disk (exfat, local)',
    ].join('\n');
    expect(macNetworkFileSystem('/Volumes/data/run', mounts)).toBe('smbfs');
    expect(macNetworkFileSystem('/Volumes/data disk/run', mounts)).toBeNull();
    expect(macNetworkFileSystem('/Users/me/run', mounts)).toBeNull();
  });

  it.each([
    ['\\\\server\\share\\run', true],
    ['//server/share/run', true],
    ['\\\\?\\UNC\\server\\share', true],
    ['\\\\?\\C:\\run', false],
    ['C:\\run', false],
  ])('%s is a UNC path: %s', (path, expected) => {
    expect(isUncPath(path)).toBe(expected);
  });

  it.runIf(process.platform === 'linux')('are not what the folder for temporary files lies on', () => {
    expect(networkFileSystem(tmpdir())).toBeNull();
  });
});
