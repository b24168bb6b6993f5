import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from '../engine/index.ts';

const KEPT_MS = 24 * 60 * 60_000;

/**
 * Deletes what earlier servers left in a folder of ours: entries older than a day in which none of the paths still needed
 * lies. Younger ones may belong to a server at work, or to a window that is just being filled in.
 */
export async function removeLeftovers(folder: string, needed: readonly string[]): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (!info || Date.now() - info.mtimeMs < KEPT_MS) continue;
    if (needed.some((one) => isInside(path, one))) continue;
    await rm(path, { recursive: true, force: true });
  }
}
