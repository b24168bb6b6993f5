import { existsSync, lstatSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { networkFileSystem } from './networkFileSystem.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';

/** By folder: the stamp of its database when it was last known to be sound. */
export type CheckedStamps = Readonly<Record<string, string>>;

/** Each entry is a folder's path and a few numbers. */
const MOST_REMEMBERED = 500;

/**
 * The databases that this program has checked, or closed itself: the check takes 3 s per GB, and a window
 * opens a run often. A database is identified by its location on disk and by the time of its last change in
 * nanoseconds, which only the system can set; writing to it or replacing it makes it unknown. `save` stores
 * the list for the next start, outside the runs: only for databases on a local disk with no pending changes
 * beside them.
 */
export class CheckedRuns {
  readonly #now = new Map<string, string>();
  readonly #lasting: Map<string, string>;
  readonly #save: (stamps: CheckedStamps) => void;

  constructor(lasting: CheckedStamps = {}, save: (stamps: CheckedStamps) => void = () => undefined) {
    this.#lasting = new Map(Object.entries(lasting));
    this.#save = save;
  }

  knows(folder: string): boolean {
    const stamp = stampOf(folder);
    if (stamp === null) return false;
    return (
      this.#now.get(folder) === stamp ||
      (this.#lasting.get(folder) === stamp && networkFileSystem(folder) === null)
    );
  }

  /** `stamp` must be taken before the check, so that later changes make the database unknown. */
  add(folder: string, stamp: string | null): void {
    if (stamp === null) return;
    this.#now.set(folder, stamp);
    if (this.#lasting.get(folder) === stamp || !isAlone(folder) || networkFileSystem(folder) !== null) return;
    this.#lasting.delete(folder);
    this.#lasting.set(folder, stamp);
    const [oldest] = this.#lasting.keys();
    if (this.#lasting.size > MOST_REMEMBERED && oldest !== undefined) this.#lasting.delete(oldest);
    this.#save(Object.fromEntries(this.#lasting));
  }
}

/** A database's identity seen from outside; null if there is none, or its disk keeps no such times. */
export function stampOf(folder: string): string | null {
  try {
    const stamp = fileStamp(lstatSync(join(folder, RUN_DATABASE), { bigint: true }));
    const wal = lstatSync(join(folder, `${RUN_DATABASE}-wal`), { bigint: true, throwIfNoEntry: false });
    return stamp === null ? null : [stamp, wal?.size, wal?.mtimeNs, wal?.ctimeNs].join(' ').trim();
  } catch {
    return null;
  }
}

function isAlone(folder: string): boolean {
  return ['-wal', '-journal'].every((ending) => !existsSync(join(folder, RUN_DATABASE + ending)));
}

/**
 * Identifies a version of a file without reading its content; the system sets the time of its last change.
 * Null if its disk stores no such time.
 */
function fileStamp({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string | null {
  return ctimeNs === 0n ? null : [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
