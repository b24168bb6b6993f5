import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { installNode, installPackages, inWords, progressOf } from './installPackages.mjs';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

let root: string;

beforeEach(() => {
  root = temporaryFolder();
});
afterEach(() => void vi.unstubAllEnvs());

/**
 * A project with two packages that have install scripts: one is called node and runs `script`, the other is
 * native and fails.
 */
async function project(script: string): Promise<void> {
  const dependencies = { native: 'file:native', node: 'file:node' };
  const description = { name: 'p', version: '1.0.0', dependencies };
  await writeFile(join(root, 'package.json'), JSON.stringify(description));
  const packages: Record<string, object> = { '': description };
  for (const [name, content] of [
    ['node', script],
    ['native', 'process.exitCode = 9'],
  ] as const) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'script.cjs'), content);
    const its = { name, version: '1.0.0', scripts: { preinstall: 'node script.cjs' } };
    await writeFile(join(root, name, 'package.json'), JSON.stringify(its));
    packages[`node_modules/${name}`] = { resolved: name, link: true };
    packages[name] = { version: its.version, hasInstallScript: true };
  }
  await writeFile(
    join(root, 'package-lock.json'),
    JSON.stringify({ ...description, lockfileVersion: 3, requires: true, packages }),
  );
}

it('shows the reason of a failure even under "npm --silent"', async () => {
  await project(`console.error('npm error getaddrinfo ENOTFOUND registry.example'); process.exitCode = 7;`);
  vi.stubEnv('npm_config_loglevel', 'silent');
  const printed: string[] = [];
  const failure: unknown = await installPackages(root, (text: string) => printed.push(text)).catch(
    (reason: unknown) => reason,
  );
  expect(failure).toMatchObject({ exitCode: 1 });
  expect((failure as Error).message).toMatch(/getaddrinfo ENOTFOUND registry\.example/);
  expect((failure as Error).message).toMatch(/check the network connection and the proxy/);
  // Lines that only report progress would push the reason out of sight.
  expect((failure as Error).message).not.toMatch(/npm (info|http)/);
  expect(printed.join('')).toMatch(/npm packages \(about \d+ MB to fetch/);
});

it('runs only the script that installs Node, and reports when it is done', async () => {
  await project(`require('node:fs').writeFileSync('placed', '')`);
  const printed: string[] = [];
  await installPackages(root, (text: string) => printed.push(text));
  expect(printed.at(-1)).toMatch(/^The npm packages are installed \(\d+ s\)\.\n$/);
  expect(existsSync(join(root, 'node', 'placed'))).toBe(true);
  // A step that an interruption prevented is done later.
  await rm(join(root, 'node', 'placed'));
  await installNode(root, () => undefined);
  expect(existsSync(join(root, 'node', 'placed'))).toBe(true);
});

it("derives the progress from npm's lines", () => {
  const progress = progressOf(3);
  const seen = (line: string) => [progress.see(line), progress.words()];
  const url = 'https://registry.example/a/-/a-1.0.0.tgz';
  expect(seen('npm http fetch GET 200 https://registry.example/a 5ms')).toEqual([
    true,
    'looking up the packages',
  ]);
  expect(seen(`npm http fetch GET 200 ${url} 20ms (cache miss)`)).toEqual([true, '1 of 3 packages fetched']);
  expect(seen(`npm http cache ${url} 0ms (cache hit)`)).toEqual([true, '1 of 3 packages fetched']);
  expect(seen('npm info run node@24.0.0 preinstall node_modules/node node install')).toEqual([
    true,
    'putting node in its place',
  ]);
  expect(seen('npm error code 1')[0]).toBe(false);
  expect(seen('npm http fetch GET https://registry.example/a attempt 2 failed with ETIMEDOUT')[0]).toBe(
    false,
  );
});

it.each([
  ['npm error code ENOSPC', /disk is full/],
  ['npm error EACCES: permission denied, mkdir', /cannot be written/],
  ['npm error code SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
  ['npm error getaddrinfo EAI_AGAIN registry.npmjs.org', /could not be downloaded/],
  ['npm error something else', /lines above/],
])('explains a failure: %s', (output, words) => {
  expect(inWords(output)).toMatch(words);
});
