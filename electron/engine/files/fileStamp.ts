import type { BigIntStats } from 'node:fs';

/** What a file looks like from outside, its content aside: the time of its last change is the system's. Null where its disk keeps none. */
export function fileStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string | null {
  return ctimeNs === 0n ? null : [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
