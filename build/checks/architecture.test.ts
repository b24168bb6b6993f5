/** The picture in docs/architecture.md against the real folders and imports, and the paths that the docs name. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reachable, realFolderGraph, realImports } from './folderGraph.ts';

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

describe('the lists of files that one thing passes', () => {
  const imports = realImports();
  const lists = [...page.matchAll(/^### (.*): (\d+) files\n\n```text\n([^]*?)```/gm)].map(
    ([, title = '', count = '', lines = '']) => ({ title, count: Number(count), files: followed(lines) }),
  );

  it('are there', () => expect(lists).toHaveLength(3));

  it.each(lists)('$title: each file exists and hangs together with those before it', ({ count, files }) => {
    expect(new Set(files.map(({ file }) => file)).size).toBe(count);
    for (const [index, { file, imported }] of files.entries()) {
      expect(imports.has(file), file).toBe(true);
      const before = files.slice(0, index).map((earlier) => earlier.file);
      const isLinked = before.some(
        (earlier) => imports.get(file)?.includes(earlier) || imports.get(earlier)?.includes(file),
      );
      if (index > 0) expect(isLinked, `${file} is imported by, or imports, a file above it`).toBe(imported);
    }
  });
});

/** `→ folder/{a,b}.ts` stands for two files, both linked to a file above by an import; after `⇢` the first is not. */
function followed(lines: string): { file: string; imported: boolean }[] {
  return [...lines.matchAll(/^(→|⇢) (.*\/)(?:\{([\w,]+)\}([.]\w+)|([\w.]+))$/gm)].flatMap(
    ([, arrow, folder = '', names = '', ending = '', single]) =>
      (single === undefined ? names.split(',').map((name) => name + ending) : [single]).map(
        (name, index) => ({
          file: folder + name,
          imported: arrow === '→' || index > 0,
        }),
      ),
  );
}

it.each(['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })])(
  'finds the files and folders that %s names',
  (file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const named = [
      ...text.matchAll(/`((?:electron|renderer|python-backend|resources|build|e2e|docs)\/[\w./-]*)`/g),
    ];
    const missing = named.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  },
);
