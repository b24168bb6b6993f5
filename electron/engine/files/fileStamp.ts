import type { BigIntStats } from 'node:fs';

/**
 * Identifies a version of a file without reading its content; the system sets the time of its last change.
 * Null if its disk stores no such time.
 */
export function fileStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string | null {
  return ctimeNs === 0n ? null : [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
