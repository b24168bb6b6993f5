import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildDesktop } from './buildDesktop.ts';

const root = join(import.meta.dirname, '..');
/**
 * Number of builds that are kept, since a program that was started from an older one may still be running.
 */
const KEPT = 5;

/**
 * Builds the app that `npm start` starts, including the window, into a folder that later builds do not
 * change.
 */
export async function buildToStart(): Promise<string> {
  const builds = join(root, 'dist', 'started');
  mkdirSync(builds, { recursive: true });
  const work = mkdtempSync(join(builds, 'making-'));
  await buildDesktop(undefined, join(work, 'dist'));
  cpSync(join(root, 'dist', 'renderer'), join(work, 'dist', 'renderer'), { recursive: true });
  cpSync(join(root, 'package.json'), join(work, 'package.json'));
  return keepBuild(work, builds);
}

/**
 * Names a build by the hash of its contents. An existing build of this name stays unchanged, because a
 * running program loads threads, pages and SQLite from it. The oldest builds are deleted.
 */
export function keepBuild(work: string, builds: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(work, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = join(work, name);
    if (statSync(file).isFile()) hash.update(`${name}\0`).update(readFileSync(file));
  }
  const build = join(builds, hash.digest('hex').slice(0, 16));
  if (existsSync(build)) {
    remove(work);
  } else {
    try {
      renameSync(work, build);
    } catch {
      // Another start was faster, or Windows has one of its files open. The build also works under its
      // current name.
      return work;
    }
  }
  const byAge = readdirSync(builds)
    .map((name) => join(builds, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of byAge.filter((folder) => folder !== build).slice(KEPT)) remove(old);
  return build;
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // Windows does not delete what a program has open; the next start tries again.
  }
}
