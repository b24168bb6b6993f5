import { join, dirname, isAbsolute, parse, relative, resolve, sep } from 'node:path';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { AppFailure } from '../../../contract/errors.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { RunCatalog } from '../runs/runCatalog.ts';
import type { PathPolicy } from './windowContext.ts';

/** Number of paths checked concurrently: disk access uses Node's few threads. */
const AT_ONCE = 16;

/** The folder for files that a browser sends: inputs, and never runs. */
export function uploadsFolder(dataDir: string): string {
  return join(dataDir, 'uploads');
}

/**
 * Paths that a window may name because the engine knows them itself: its own folders and those of its runs.
 * The inputs and model that a run names grant nothing, since the run may be somebody else's. If no root
 * limits the window, what the user named when creating a run here stays granted.
 */
export class KnownPaths {
  private readonly catalog: RunCatalog;
  private readonly own: readonly string[];
  private readonly ownInputs: readonly string[];
  private readonly uploads: string;

  constructor(paths: AppPaths, catalog: RunCatalog, resultsFolder: string) {
    this.catalog = catalog;
    this.own = [paths.resources, paths.dataDir, resultsFolder];
    this.ownInputs = [paths.resources, paths.dataDir];
    this.uploads = uploadsFolder(paths.dataDir);
  }

  /** Throws the refusal of the first path that is neither known nor allowed for the window. */
  async check(paths: readonly string[], policy: PathPolicy): Promise<void> {
    const unknown: string[] = [];
    for (let start = 0; start < paths.length; start += AT_ONCE) {
      const some = paths.slice(start, start + AT_ONCE);
      const allowed = await Promise.all(some.map((path) => policy.allows(path)));
      unknown.push(...some.filter((_, index) => !allowed[index]));
    }
    if (unknown.length === 0) return;
    const known = await this.folders(policy);
    for (const path of unknown) {
      if (!isBelowOne(known, await realPath(path))) throw new AppFailure(policy.refusal(path));
    }
  }

  async allows(path: string, policy: PathPolicy): Promise<boolean> {
    return (await policy.allows(path)) || isBelowOne(await this.folders(policy), await realPath(path));
  }

  /** Whether the program put the file there itself, so that a run's results must not go beside it. */
  async isOwn(path: string): Promise<boolean> {
    return isBelowOne(await allReal(this.ownInputs), await realPath(path));
  }

  async isUpload(path: string): Promise<boolean> {
    return isBelowOne(await allReal([this.uploads]), await realPath(path));
  }

  private folders(policy: PathPolicy): Promise<Set<string>> {
    const granted = policy.root === null ? this.catalog.namedPaths() : [];
    return allReal([...this.own, ...this.catalog.all().map(({ folder }) => folder), ...granted]);
  }
}

async function allReal(paths: readonly string[]): Promise<Set<string>> {
  const real = new Set<string>();
  for (let start = 0; start < paths.length; start += AT_ONCE) {
    const some = await Promise.all(paths.slice(start, start + AT_ONCE).map((path) => realPath(path)));
    for (const path of some) real.add(path);
  }
  return real;
}

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
