import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { releaseAddress } from './releaseAddress.ts';

const folder = mkdtempSync(join(tmpdir(), 'resources-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it.each([
  [
    'provider: generic\nurl: https://example.org/releases\nupdaterCacheDirName: a\n',
    'https://example.org/releases',
  ],
  [`provider: generic\nurl: 'https://example.org/a'\n`, 'https://example.org/a'],
  ['provider: generic\nurl: https://virnucpro.invalid/releases\n', null],
  ['provider: generic\nurl: http://example.org/releases\n', null],
  ['provider: generic\nurl: http://127.0.0.1:8080\n', 'http://127.0.0.1:8080'],
  ['provider: generic\nurl: nowhere\n', null],
  ['provider: generic\n', null],
])('%s', (text, address) => {
  writeFileSync(join(folder, 'app-update.yml'), text);
  expect(releaseAddress(folder)).toBe(address);
});

it('is none where nothing is written, nor as this repository packs', () => {
  rmSync(join(folder, 'app-update.yml'));
  expect(releaseAddress(folder)).toBe(null);
  const config = readFileSync(
    join(import.meta.dirname, '..', '..', '..', 'build', 'electron-builder.yml'),
    'utf8',
  );
  writeFileSync(join(folder, 'app-update.yml'), config.replaceAll(/^ +/gm, ''));
  expect(config).toContain('\n  url: ');
  expect(releaseAddress(folder)).toBe(null);
});
