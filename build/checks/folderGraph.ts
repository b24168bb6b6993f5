/**
 * Finds out from the sources which folder imports which: these are the boxes and arrows that
 * docs/architecture.md must show.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const PYTHON = 'python-backend/src/virnucpro_backend';

interface FolderGraph {
  readonly boxes: ReadonlySet<string>;
  /** `from -> to` */
  readonly arrows: ReadonlySet<string>;
}

/**
 * Returns the box of a file: the window, the shells, each folder and each loose file of the engine, or each
 * folder of the Python side.
 */
function boxOf(file: string): string | undefined {
  const [top = '', second = '', third = '', ...below] = file.split('/');
  if (top === 'renderer') return 'renderer';
  if (top === 'electron' && second === 'engine') {
    return `engine/${below.length === 0 ? third.replace(/[.]ts$/, '') : third}`;
  }
  if (top === 'electron') return second;
  if (!file.startsWith(`${PYTHON}/`)) return undefined;
  const [name = '', ...deeper] = file.slice(PYTHON.length + 1).split('/');
  // The loose files are the programs that the engine starts, and what all folders share; they belong to no
  // layer.
  return deeper.length === 0 ? undefined : `python/${name}`;
}

export function realFolderGraph(): FolderGraph {
  const arrows = new Set<string>();
  const boxes = new Set<string>();
  for (const [file, imported] of realImports()) {
    const from = boxOf(file);
    if (from === undefined) continue;
    boxes.add(from);
    for (const target of imported) {
      const to = boxOf(target);
      if (to !== undefined && to !== from) arrows.add(`${from} -> ${to}`);
    }
  }
  return { boxes, arrows };
}

/**
 * Folders of the engine that import each other, at any depth. A folder and one inside it are no pair, since they
 * are one story; nor are the loose files, which show the engine to the outside.
 */
export function mutualFolders(): string[] {
  const engine = 'electron/engine';
  const arrows = new Set<string>();
  for (const [file, imported] of realImports()) {
    const from = dirname(file);
    for (const to of imported.map((target) => dirname(target))) {
      const areApart = from !== to && !`${from}/`.startsWith(`${to}/`) && !`${to}/`.startsWith(`${from}/`);
      if (areApart && [from, to].every((folder) => folder.startsWith(`${engine}/`)))
        arrows.add(`${from} ${to}`);
    }
  }
  return [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' ');
    return from < to && arrows.has(`${to} ${from}`);
  });
}

const TESTS = /[.]test[.]tsx?$|[.]config[.]ts$|\/(testing|benchmarks)\//;

/** Returns what each source file imports. */
function realImports(): Map<string, string[]> {
  return new Map([
    ...typescriptImports('{electron,renderer}').filter(([file]) => !TESTS.test(file)),
    ...pythonImports(PYTHON),
  ]);
}

function typescriptImports(folder: string): [string, string[]][] {
  return sources(`${folder}/**/*.{ts,tsx}`).map((file) => {
    const specifiers = read(file).matchAll(/(?:from|import|import\()\s*'([.][^']+)'/g);
    return [file, [...specifiers].map(([, path = '']) => slashes(join(dirname(file), path)))];
  });
}

function pythonImports(folder: string): [string, string[]][] {
  return sources(`${folder}/**/*.py`).map((file) => {
    const modules = read(file).matchAll(
      /^\s*(?:from|import) virnucpro_backend((?:[.]\w+)*)(?: import (\w+))?/gm,
    );
    return [
      file,
      [...modules].map(([, path = '', name = '']) => pythonFile(path.replaceAll('.', '/'), name)),
    ];
  });
}

/** In `from virnucpro_backend import inference` the imported name is the folder. */
function pythonFile(path: string, name: string): string {
  const below = path === '' ? `/${name}` : path;
  const isFolder = globSync(`${PYTHON}${below}/__init__.py`, { cwd: root }).length > 0;
  return `${PYTHON}${below}${isFolder ? '/__init__.py' : '.py'}`;
}

function sources(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).map(slashes);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function slashes(path: string): string {
  return relative(root, join(root, path)).split(sep).join('/');
}

/** The boxes that can be reached from each box along the arrows. */
export function reachable(arrows: Iterable<string>): Map<string, Set<string>> {
  const next = Map.groupBy(
    [...arrows].map((arrow) => arrow.split(' -> ') as [string, string]),
    ([from]) => from,
  );
  const found = new Map<string, Set<string>>();
  for (const start of next.keys()) {
    const seen = new Set<string>();
    const waiting = [start];
    for (let box = waiting.pop(); box !== undefined; box = waiting.pop()) {
      for (const [, to] of next.get(box) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        waiting.push(to);
      }
    }
    found.set(start, seen);
  }
  return found;
}
