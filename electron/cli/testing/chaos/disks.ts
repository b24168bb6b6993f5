/** File systems of a trial's own, mounted at its own place; no other one is ever touched. */
import { execFileSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { pause } from '../waiting.ts';

const IMAGE_BYTES = 64 * 2 ** 20;
const STILL_BUSY_MS = 5_000;

export function mountMemory(place: string, kilobytes: number): boolean {
  return run('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', place]);
}

export function growMemory(place: string): void {
  run('mount', ['-o', 'remount,size=64m', place]);
}

/** A new file system in a file, that becomes read-only when it finds an error in itself. */
export function mountNewImage(image: string, place: string): boolean {
  writeFileSync(image, '');
  truncateSync(image, IMAGE_BYTES);
  return run('mkfs.ext4', ['-q', '-F', image]) && mountImage(image, place);
}

export function mountImage(image: string, place: string): boolean {
  return run('mount', ['-o', 'loop,errors=remount-ro', image, place]);
}

/** Repairs an image that is not mounted. */
export function repairImage(image: string): void {
  run('e2fsck', ['-fy', image]);
}

/** Has the file system at this place report an error. False where it isn't one in a file, mounted just there, or can't. */
export function reportError(place: string): boolean {
  const device = loopDeviceAt(place, mounts());
  if (device === undefined) return false;
  try {
    writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'tried on purpose');
    return true;
  } catch {
    return false;
  }
}

/** "loop3" where that loop device, and nothing over it, is mounted exactly here as ext4. */
export function loopDeviceAt(place: string, mountInfo: string): string | undefined {
  const last = mountInfo.split('\n').findLast((line) => mountPoint(line) === place);
  const [, type, source] = /^.* - (\S+) (\S+) /.exec(last ?? '') ?? [];
  const device = /^\/dev\/(loop\d+)$/.exec(source ?? '')?.[1];
  return type === 'ext4' ? device : undefined;
}

/** Takes away whatever is mounted at the place, also where a process still works in it. */
export async function unmount(place: string): Promise<void> {
  const begin = performance.now();
  while (isMounted(place) && !run('umount', [place])) {
    if (performance.now() - begin > STILL_BUSY_MS) unmountAtOnce(place);
    else await pause(100);
  }
}

/** The loop device goes with the last that uses it. */
export function unmountAtOnce(place: string): void {
  while (isMounted(place) && run('umount', ['-l', place]));
}

function isMounted(place: string): boolean {
  return mounts()
    .split('\n')
    .some((line) => mountPoint(line) === place);
}

function mounts(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8');
}

function mountPoint(line: string): string | undefined {
  return line
    .split(' ')[4]
    ?.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}

function run(command: string, args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
