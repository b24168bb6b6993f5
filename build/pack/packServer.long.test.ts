/**
 * Runs the package for servers in an empty home, on the oldest Node that it claims to support, which comes
 * from the npm registry. The scores of the example must be the expected ones.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compareExample, exampleInput } from '../../electron/engine/run/exampleRun.ts';
import { APP_PATHS, REAL_PYTHON, WITHOUT_PYTHON } from '../../electron/engine/testing/realFiles.ts';
import { OLDEST_NODE, packServer } from './packServer.ts';

const target = `${process.platform}-${process.arch}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'old node '));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('runs the example on the oldest Node that it allows', async ({ skip }) => {
  if (WITHOUT_PYTHON !== undefined) skip(WITHOUT_PYTHON);
  if (process.platform === 'win32') skip('the package is for servers with Linux or macOS');
  const name = `node-${target}@${OLDEST_NODE}.0`;
  const fetched = await execa('npm', ['pack', '--silent', '--pack-destination', folder, name], {
    reject: false,
  });
  if (fetched.failed) skip(`${name} could not be fetched: ${fetched.stderr}`);
  await execa('tar', ['-xzf', join(folder, fetched.stdout.trim()), '-C', folder]);
  const nodeFolder = join(folder, 'package', 'bin');

  const file = await packServer(target, folder, { uv: null });
  const prefix = join(folder, 'prefix');
  const home = join(folder, 'home');
  await mkdir(home);
  await execa('npm', ['install', '--global', '--offline', '--no-audit', '--prefix', prefix, file]);
  const virnucpro = (...args: string[]) =>
    execa(join(prefix, 'bin', 'virnucpro'), args, {
      env: { PATH: `${nodeFolder}:/usr/bin:/bin`, HOME: home, VIRNUCPRO_PYTHON: REAL_PYTHON },
      extendEnv: false,
      cwd: folder,
    });
  expect((await execa(join(nodeFolder, 'node'), ['--version'])).stdout).toBe(`v${OLDEST_NODE}.0`);

  // Some processors would choose BF16.
  const inFp32 = ['--devices', 'cpu', '--precision', 'fp32'];
  await virnucpro('predict', exampleInput(APP_PATHS), '-o', 'results', '--model', 'teaching', ...inFp32);
  const compared = await compareExample(APP_PATHS, join(folder, 'results'), 'fp32');
  expect(compared.matches, compared.message).toBe(true);
});
