import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Contents by the path within a folder. */
export type Files = ReadonlyMap<string, Buffer>;

/** All files below a folder, sorted by their paths. */
export function filesOf(folder: string): Files {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return new Map(
    found
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

export function writeFiles(folder: string, files: Files): void {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
}
