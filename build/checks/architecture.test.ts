/** Compares the diagram and the walks of docs/architecture.md with the real folders, imports and files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mutualFolders, reachable, realFolderGraph } from './folderGraph.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
const picture = /```mermaid\n([^]*?)```/.exec(page)?.[1] ?? '';
const titles = new Map(
  [...picture.matchAll(/^ *(\w+)\["([\w/]+)(?:<br\/>[^"]*)?"\]$/gm)].map(([, id = '', title = '']) => [
    id,
    title,
  ]),
);
const drawn = new Set(
  [...picture.matchAll(/^ *(\w+) --> (\w+)$/gm)].map(
    ([, from = '', to = '']) => `${titles.get(from) ?? from} -> ${titles.get(to) ?? to}`,
  ),
);
const real = realFolderGraph();

it('has exactly the folders as boxes', () => {
  expect([...titles.values()].sort()).toEqual([...real.boxes].sort());
});

it('has no arrow without an import', () => {
  expect([...drawn].filter((arrow) => !real.arrows.has(arrow))).toEqual([]);
});

it('has an arrow, or a chain of arrows, for every import between folders', () => {
  const shown = reachable(drawn);
  const missing = [...real.arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' -> ');
    return !shown.get(from)?.has(to);
  });
  expect(missing).toEqual([]);
});

it('has no two folders of the engine that import each other', () => {
  expect(mutualFolders()).toEqual([]);
});

it('counts the files of each walk, all of which exist', () => {
  const walks = [...page.matchAll(/^### (.+): (\d+) files\n\n```text\n([^]*?)```/gm)].map(
    ([, title = '', count = '', lines = '']) => ({
      title,
      count: Number(count),
      files: lines.split('\n').flatMap(filesOf),
    }),
  );
  expect(walks.length).toBeGreaterThan(0);
  for (const { title, count, files } of walks) {
    const existing = new Set(files.filter((file) => existsSync(join(root, file))));
    expect({ title, count: existing.size, listed: files.length }).toEqual({ title, count, listed: count });
  }
});

/** The files of a line such as `→ folder/{one,other}.ts`. */
function filesOf(line: string): string[] {
  const [, path = ''] = /^[→⇢] (.+)$/.exec(line) ?? [];
  const [, before = '', names, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  if (names === undefined) return path === '' ? [] : [path];
  return names.split(',').map((name) => `${before}${name}${after}`);
}
