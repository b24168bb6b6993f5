import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keepBuild } from './buildToStart.ts';

const builds = mkdtempSync(join(tmpdir(), 'builds-'));
afterAll(() => {
  rmSync(builds, { recursive: true });
});

function build(content: string): string {
  const work = mkdtempSync(join(builds, 'making-'));
  mkdirSync(join(work, 'dist'));
  writeFileSync(join(work, 'dist', 'storeHost.mjs'), content);
  return keepBuild(work, builds);
}

it('does not change the files of a running program, whether or not the next start builds the same', () => {
  const running = build('one');
  const file = join(running, 'dist', 'storeHost.mjs');
  const { ino } = statSync(file);
  expect(build('one')).toBe(running);
  expect(build('another')).not.toBe(running);
  expect(statSync(file).ino).toBe(ino);
});

it('keeps only the last few builds', () => {
  const folders = Array.from({ length: 8 }, (_, number) => build(`number ${number}`));
  const kept = folders.filter((folder) => existsSync(folder));
  expect(kept.length).toBeLessThan(8);
  expect(kept).toContain(folders.at(-1));
});
