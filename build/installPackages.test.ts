import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, it } from 'vitest';
import { installNode, installPackages } from './installPackages.mjs';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

const MODULE = join(import.meta.dirname, 'installPackages.mjs');
let root: string;

beforeEach(() => {
  root = temporaryFolder();
});

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
  const install = `await (await import(${JSON.stringify(MODULE)})).installPackages(${JSON.stringify(root)})`;
  const { stderr, stdout, exitCode } = await execa(process.execPath, ['--eval', install], {
    env: { npm_config_loglevel: 'silent' },
    reject: false,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/npm packages \(about \d+ MB to fetch[^]*ENOTFOUND[^]*could not be installed/);
  // It belongs to the script that is started afterwards.
  expect(stdout).toBe('');
});

it('runs only the script that installs Node', async () => {
  await project(`require('node:fs').writeFileSync('placed', '')`);
  await installPackages(root);
  expect(existsSync(join(root, 'node', 'placed'))).toBe(true);
  // A step that an interruption prevented is done later.
  await rm(join(root, 'node', 'placed'));
  await installNode(root);
  expect(existsSync(join(root, 'node', 'placed'))).toBe(true);
});
