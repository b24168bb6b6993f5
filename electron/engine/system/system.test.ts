/** Answers of each of the three systems, on made-up computers of each kind. */
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { HERE } from './here.ts';
import { madeSystem } from './testing/madeSystem.ts';

describe.each([
  ['linux', '/home/me', '/home/me/.local/share/virnucpro-desktop', '/env/bin/python'],
  ['darwin', '/Users/me', '/Users/me/Library/Application Support/VirNucPro Desktop', '/env/bin/python'],
  [
    'win32',
    'C:\\Users\\me',
    'C:\\Users\\me\\AppData\\Local\\VirNucPro Desktop',
    '\\env\\Scripts\\python.exe',
  ],
] as const)('%s', (platform, home, data, interpreter) => {
  it('has its own paths', () => {
    expect(madeSystem(platform).dataFolder({}, home)).toBe(data);
    expect(madeSystem(platform).interpreterIn('/env')).toBe(interpreter);
  });
});

it('uses the data folder that the system configures elsewhere', () => {
  expect(madeSystem('linux').dataFolder({ XDG_DATA_HOME: '/big' }, '/home/me')).toBe(
    '/big/virnucpro-desktop',
  );
  expect(madeSystem('win32').dataFolder({ LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\me')).toBe(
    'D:\\Local\\VirNucPro Desktop',
  );
});

it('looks for NVIDIA cards if there can be some', () => {
  expect(madeSystem('linux').nvidiaSmi({})).toBe('nvidia-smi');
  expect(madeSystem('win32').nvidiaSmi({ SystemRoot: 'D:\\Windows' })).toBe(
    'D:\\Windows\\System32\\nvidia-smi.exe',
  );
  expect(madeSystem('darwin').nvidiaSmi({})).toBeNull();
});

it.each([
  ['23.6.0', 14],
  ['24.0.0', 15],
  ['25.1.0', 26],
])('recognises macOS by its kernel %s: %i', (release, major) => {
  expect(madeSystem('darwin', { kernelRelease: () => release }).macosMajor()).toBe(major);
});

it('recognises a Linux with musl, and no other system as one', () => {
  expect(madeSystem('linux', { hasGlibc: () => false }).hasMusl()).toBe(true);
  expect(madeSystem('linux', { hasGlibc: () => true }).hasMusl()).toBe(false);
  for (const platform of ['darwin', 'win32'] as const) expect(madeSystem(platform).hasMusl()).toBe(false);
});

it('does not sync folders on Windows only', () => {
  const syncs = (['linux', 'darwin', 'win32'] as const).map((platform) => madeSystem(platform).syncsFolders);
  expect(syncs).toEqual([true, true, false]);
});

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
    expect(madeSystem('linux', { fileSystemType: () => type }).networkFileSystem('/data')).toBe(name);
  });

  it.each([
    ['/Volumes/data/run', 'smbfs'],
    ['/Volumes/data disk/run', null],
    ['/Users/me/run', null],
  ])('%s on macOS is %s, according to the mount that holds it', (folder, name) => {
    const mounts = [
      '/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)',
      '//me@nas/data on /Volumes/data (smbfs, nodev, nosuid, mounted by me)',
      '/dev/disk5s1 on /Volumes/data disk (exfat, local)',
    ].join('\n');
    const mac = madeSystem('darwin', {
      outputOf: (file) => (file === '/sbin/mount' ? mounts : ''),
      realPath: (path) => path,
    });
    expect(mac.networkFileSystem(folder)).toBe(name);
  });

  const drives: Record<string, string> = { 'Z:\\run': '\\\\server\\share\\run', 'C:\\run': 'C:\\run' };
  it.each([
    ['\\\\server\\share\\run', 'unc'],
    ['//server/share/run', 'unc'],
    ['\\\\?\\UNC\\server\\share', 'unc'],
    ['\\\\?\\C:\\run', null],
    ['C:\\run', null],
    // A drive mapped to a server.
    ['Z:\\run', 'unc'],
    // A RAM disk, for which Windows does not report a target.
    ['R:\\run', null],
  ])('%s on Windows is %s', (folder, name) => {
    const realPath = (path: string): string => {
      const found = drives[path];
      if (found === undefined) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
      return found;
    };
    expect(madeSystem('win32', { realPath }).networkFileSystem(folder)).toBe(name);
  });

  it('do not hold the folder for temporary files', () => {
    expect(HERE.networkFileSystem(tmpdir())).toBeNull();
  });
});

describe('other processes', () => {
  const stat = (pid: number, state: string, ticks: number): string =>
    `${pid} (a ) (b) ${state} ${Array.from({ length: 18 }, () => '0').join(' ')} ${ticks} 0 0`;
  const files: Record<string, string> = {
    '/proc/7/stat': stat(7, 'S', 4242),
    '/proc/8/stat': stat(8, 'Z', 4243),
    '/proc/sys/kernel/random/boot_id': 'boot\n',
  };
  const linux = madeSystem('linux', {
    readText: (file) => {
      const text = files[file];
      if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return text;
    },
  });
  const ps: Record<string, string> = {
    '-o state=,lstart= -p 7': 'S+   Sun Nov 22 09:00:00 2026\n',
    '-o state=,lstart= -p 9': '',
  };
  const mac = madeSystem('darwin', { outputOf: (_file, args) => ps[args.join(' ')] ?? '' });

  it('have a state and a start, which distinguishes a later process with the same number', () => {
    expect(linux.processEntry(7)).toEqual({ state: 'S', start: 'boot 4242' });
    expect(linux.processEntry(8)).toMatchObject({ state: 'Z' });
    expect(() => linux.processEntry(9)).toThrow('gone');
    expect(mac.processEntry(7)).toEqual({ state: 'S', start: 'Sun Nov 22 09:00:00 2026' });
    expect(mac.processEntry(9)).toBeNull();
    expect(madeSystem('win32').processEntry(7)).toBeNull();
  });

  it('are found by their number, including this one', () => {
    if (HERE.platform === 'win32') return;
    expect(HERE.processEntry(process.pid)?.state).toMatch(/^[RS]$/);
  });
});
