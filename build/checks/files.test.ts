/** Files that are too small to be files, and folders too full to be looked through: see CONTRIBUTING.md, "Style". */
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { boxOf, read, realImports, testImports } from './folderGraph.ts';

const SMALL_LINES = 40;
const MOST_FILES = 15;
/** Who looks for one of these looks for a file with its name. */
const FAMILIES: readonly (readonly [each: string, files: RegExp])[] = [
  ['a command', /^electron\/cli\/commands\//],
  ['an export', /^electron\/engine\/exports\//],
  ['a question about a run', /^electron\/engine\/service\/questions\//],
  ['the methods of a table', /^electron\/engine\/store\/sqlite\//],
  ['what is asked of Electron', /^electron\/main\//],
  ['a maker of devices', /\/devices\/opening\//],
  ['a component', /^renderer\/.*\.tsx$/],
  ['a language', /^renderer\/i18n\/\w+\/index\.ts$/],
];

const imports = realImports();
const tested = new Set([...testImports().values()].flat());
const users = new Map<string, Set<string>>();
for (const [file, targets] of imports)
  for (const target of targets) users.set(target, (users.get(target) ?? new Set()).add(file));

/** The window is one box of the picture; here its folders are told apart. */
function placeOf(file: string): string | undefined {
  return file.startsWith('renderer/') ? posix.dirname(file).split('/').slice(0, 2).join('/') : boxOf(file);
}

/** Small files without a test of their own, whose one user lies in the same box. */
const small = [...imports.keys()].filter((file) => {
  const [user, ...others] = users.get(file) ?? [];
  return (
    user !== undefined &&
    others.length === 0 &&
    !tested.has(file) &&
    placeOf(user) === placeOf(file) &&
    read(file).trimEnd().split('\n').length < SMALL_LINES
  );
});

it('has no small file for one user that is neither tested nor one of a family', () => {
  expect(small.filter((file) => !FAMILIES.some(([, files]) => files.test(file)))).toEqual([]);
});

it.each(FAMILIES)('has files of which each is %s', (_, files) => {
  expect([...imports.keys()].filter((file) => files.test(file))).not.toEqual([]);
});

it('has no folder with more than 15 files and no subfolders', () => {
  const folders = Map.groupBy(imports.keys(), (file) => posix.dirname(file));
  const full = [...folders].filter(
    ([folder, files]) =>
      files.length > MOST_FILES && ![...folders.keys()].some((other) => other.startsWith(`${folder}/`)),
  );
  expect(full.map(([folder]) => folder)).toEqual([]);
});
