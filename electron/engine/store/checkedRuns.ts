import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { fileStamp } from '../files/fileStamp.ts';
import { isTrustedDisk } from './networkFileSystem.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';

/** By folder: what its database looked like when it was known to be sound. */
export type CheckedStamps = Readonly<Record<string, string>>;

/** Each is a folder's path and a few numbers. */
const MOST_REMEMBERED = 500;

/**
 * The databases that this program has checked, or closed itself: the check takes 3 s per GB, and a window opens a run often. A
 * database is known by its place on the disk and by the time of its last change, which nobody but the system can set, to the
 * nanosecond; whatever writes to it or puts another one there makes it unknown. `save` keeps them for the next start, outside of
 * the runs: of those that lie on a disk of this computer, with nothing beside them that SQLite has yet to bring in.
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
    return this.#now.get(folder) === stamp || (this.#lasting.get(folder) === stamp && isTrustedDisk(folder));
  }

  /** `stamp` was taken before the check, so that what is written meanwhile is not known. */
  add(folder: string, stamp: string | null): void {
    if (stamp === null) return;
    this.#now.set(folder, stamp);
    if (this.#lasting.get(folder) === stamp || !isAlone(folder) || !isTrustedDisk(folder)) return;
    this.#lasting.delete(folder);
    this.#lasting.set(folder, stamp);
    const [oldest] = this.#lasting.keys();
    if (this.#lasting.size > MOST_REMEMBERED && oldest !== undefined) this.#lasting.delete(oldest);
    this.#save(Object.fromEntries(this.#lasting));
  }
}

/** What a database looks like from outside; null where there is none, or its disk keeps no such times. */
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
