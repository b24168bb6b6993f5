/** What is in a package for Linux, and what docs/releases.md says of it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';

const root = join(import.meta.dirname, '..', '..', '..');
/** In the fuse wire, the digit 1 means that a fuse is on. */
const FUSE_ON = 0x31;

/** The names of the fuses that are on. */
export async function fusesOn(program: string): Promise<string[]> {
  const wire = await getCurrentFuseWire(program);
  return Object.entries(wire).flatMap(([fuse, state]) =>
    Number(state) === FUSE_ON ? [FuseV1Options[Number(fuse)] ?? fuse] : [],
  );
}

/** Parts of the package as docs/releases.md lists them: names, and sizes in MB. */
const LISTED = Object.fromEntries(
  [...readFileSync(join(root, 'docs', 'releases.md'), 'utf8').matchAll(/^\| `([\w.-]+)` +\| (\d+) /gm)].map(
    ([, name = '', size]) => [name, Number(size)],
  ),
);

export const allFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Sizes in MB of what lies in a folder, without what is too small to be listed. */
function sizes(folder: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const file of allFiles(folder)) {
    const [part = ''] = relative(folder, file).split(sep);
    found[part] = (found[part] ?? 0) + statSync(file).size / 1e6;
  }
  return Object.fromEntries(Object.entries(found).filter(([, size]) => size > 0.5));
}

/** Larger files whose content is in the folder more than once. */
export const doubles = (folder: string): string[][] =>
  Object.values(
    Object.groupBy(
      allFiles(folder).filter((file) => statSync(file).size > 10_000),
      (file) => createHash('sha256').update(readFileSync(file)).digest('hex'),
    ),
  ).flatMap((files) => (files && files.length > 1 ? [files] : []));

/** Parts whose size is not as listed within a tenth and a megabyte, as far as they have any to speak of. */
export function unlisted(resources: string): string[] {
  const found = sizes(resources);
  return [...new Set([...Object.keys(found), ...Object.keys(LISTED)])].flatMap((name) => {
    const [size = 0, listed = 0] = [found[name], LISTED[name]];
    const isListed = size > 0 && listed > 0 && Math.abs(size - listed) < 1 + size / 10;
    return isListed ? [] : [`${name}: ${size} MB, listed ${listed}`];
  });
}
