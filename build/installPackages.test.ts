import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { installPackages, inWords, progressOf } from './installPackages.mjs';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'Projekt β '));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

/** A project without dependencies, whose own install script ends like this. */
async function project(script: string): Promise<void> {
  await writeFile(join(root, 'script.cjs'), script);
  const description = { name: 'p', version: '1.0.0' };
  await writeFile(
    join(root, 'package.json'),
    JSON.stringify({ ...description, scripts: { install: 'node script.cjs' } }),
  );
  await writeFile(
    join(root, 'package-lock.json'),
    JSON.stringify({ ...description, lockfileVersion: 3, requires: true, packages: { '': description } }),
  );
}

it('shows the reason of a failure even under "npm --silent"', async () => {
  await project(
    `console.error('gyp ERR! stack Error: getaddrinfo ENOTFOUND nodejs.org'); process.exitCode = 7;`,
  );
  vi.stubEnv('npm_config_loglevel', 'silent');
  const said: string[] = [];
  const failure: unknown = await installPackages(root, (text: string) => said.push(text)).catch(
    (reason: unknown) => reason,
  );
  expect(failure).toMatchObject({ exitCode: 1 });
  expect((failure as Error).message).toMatch(/gyp ERR! stack Error: getaddrinfo ENOTFOUND nodejs\.org/);
  expect((failure as Error).message).toMatch(/Node's headers could not be fetched.*npm_config_nodedir/);
  // What only says how far npm is would push the reason out of sight.
  expect((failure as Error).message).not.toMatch(/npm (info|http)/);
  expect(said.join('')).toMatch(/npm packages \(about \d+ MB to fetch/);
});

it('says when it is done', async () => {
  await project('');
  const said: string[] = [];
  await installPackages(root, (text: string) => said.push(text));
  expect(said.at(-1)).toMatch(/^The npm packages are installed \(\d+ s\)\.\n$/);
});

it('follows npm from its lines', () => {
  const progress = progressOf(3);
  const seen = (line: string) => [progress.see(line), progress.words()];
  const url = 'https://registry.example/a/-/a-1.0.0.tgz';
  expect(seen('npm http fetch GET 200 https://registry.example/a 5ms')).toEqual([
    true,
    'looking up the packages',
  ]);
  expect(seen(`npm http fetch GET 200 ${url} 20ms (cache miss)`)).toEqual([true, '1 of 3 packages fetched']);
  expect(seen(`npm http cache ${url} 0ms (cache hit)`)).toEqual([true, '1 of 3 packages fetched']);
  expect(seen('npm info run @scope/b@1.0.0 install node_modules/@scope/b node-gyp rebuild')).toEqual([
    true,
    'installing the native part of @scope/b',
  ]);
  expect(seen('npm error code 1')[0]).toBe(false);
});

it.each([
  ['npm error code ENOSPC', /disk is full/],
  ['npm error EACCES: permission denied, mkdir', /cannot be written/],
  ['npm error code SELF_SIGNED_CERT_IN_CHAIN', /NODE_EXTRA_CA_CERTS/],
  ['npm error getaddrinfo EAI_AGAIN registry.npmjs.org', /could not be downloaded/],
  ['gyp ERR! stack Error: 403 response downloading https://nodejs.org/x-headers.tar.gz', /headers could not/],
  ['gyp ERR! find Python Python is not set\nnpm error EACCES', /needs a C\+\+ compiler and Python/],
  [
    'make: g++: No such file or directory\ngyp ERR! build error\ngyp ERR! stack Error: `make` failed',
    /compiler/,
  ],
  ['npm error something else', /lines above/],
])('puts a failure in words: %s', (output, words) => {
  expect(inWords(output)).toMatch(words);
});
