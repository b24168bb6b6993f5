import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';

/** The number of links that systems follow in one path. */
const MOST_LINKS = 40;

/** Whether a path lies below a folder, or is the folder itself. Both absolute. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

/**
 * The path with all its links resolved, as far as it exists: what is still to be created keeps its name. A
 * link to something that is still to be created stands for its target.
 */
export async function realPath(path: string, linksLeft = MOST_LINKS): Promise<string> {
  const absolute = resolve(path);
  const whole = await realpath(absolute).catch(() => undefined);
  if (whole !== undefined) return whole;
  const { existing, rest } = await longestExisting(absolute);
  const [next = '', ...below] = rest;
  const link = linksLeft > 0 ? await linkTarget(join(existing, next)) : undefined;
  if (link === undefined) return join(existing, ...rest);
  return realPath(resolve(existing, link, ...below), linksLeft - 1);
}

/** Whether any of the folders is the path, or has it below it. */
export function isBelowOne(folders: ReadonlySet<string>, path: string): boolean {
  for (let place = path; ; place = dirname(place)) {
    if (folders.has(place)) return true;
    if (dirname(place) === place) return false;
  }
}

/** Uses bisection, since a path may have thousands of parts and each disk access takes time. */
async function longestExisting(absolute: string): Promise<{ existing: string; rest: string[] }> {
  const { root } = parse(absolute);
  const parts = absolute.slice(root.length).split(sep);
  let existing = root;
  let [known, missing] = [0, parts.length];
  while (missing - known > 1) {
    const middle = (known + missing) >> 1;
    const real = await realpath(join(root, ...parts.slice(0, middle))).catch(() => undefined);
    if (real === undefined) {
      missing = middle;
    } else {
      existing = real;
      known = middle;
    }
  }
  return { existing, rest: parts.slice(known) };
}

async function linkTarget(path: string): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  return info?.isSymbolicLink() ? readlink(path).catch(() => undefined) : undefined;
}
