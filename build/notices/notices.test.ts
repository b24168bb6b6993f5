import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundledPackages, packageTitle } from './bundledPackages.ts';
import { pythonRequirements } from './pythonRequirements.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'THIRD_PARTY_NOTICES.txt'), 'utf8');
const lines = text.split('\n');
const packages = await bundledPackages();

it('list every npm package in the bundles, with its version and licence', () => {
  expect(packages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['better-sqlite3', 'react', 'zod']),
  );
  const missing = packages
    .map((item) => `${packageTitle(item)}  (${item.license})`)
    .filter((line) => !lines.includes(line));
  expect(
    missing,
    'packages missing from THIRD_PARTY_NOTICES.txt: "npm run node -- build/notices/writeNotices.ts" adds them',
  ).toEqual([]);
});

it('list every Python package that the program installs', () => {
  const named = new Set(lines.map((line) => /^ {3}([\w.-]+) {2}/.exec(line)?.[1]));
  expect(pythonRequirements().filter((name) => !named.has(name))).toEqual([]);
});
