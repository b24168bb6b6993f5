/**
 * Runs the package for servers in an empty home, on the oldest Node that it claims to support, which comes
 * from the npm registry. The scores of the example must be the expected ones.
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

it.skipIf(process.platform === 'win32')(
  'a server gets virnucpro from one file, without a registry',
  async () => {
    const file = await packServer(`${process.platform}-${process.arch}`, folder, { uv: null });
    const { stdout: list } = await execa('tar', ['-tzf', file]);
    const names = list.split('\n');
    expect(names).toEqual(
      expect.arrayContaining(
        [
          'virnucpro.mjs',
          'commandLine.mjs',
          'better_sqlite3.node',
          'duckdb.node',
          'libduckdb.so',
          'python-backend/src/virnucpro_backend/__init__.py',
          'python-backend/requirements.lock',
          'resources/teaching-model/model.json',
          'THIRD_PARTY_NOTICES.txt',
        ].map((name) => `package/${name}`),
      ),
    );
    expect(names.filter((name) => /\.test\.|requirements-test|__pycache__|node_modules/.test(name))).toEqual(
      [],
    );

    const prefix = join(folder, 'own Node');
    // The environment offers Node and basic system tools only.
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: join(folder, 'home') };
    await execa(
      'npm',
      ['install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', prefix, file],
      {
        env,
      },
    );
    const virnucpro = (...args: string[]) =>
      execa(join(prefix, 'bin', 'virnucpro'), args, { env, extendEnv: false, cwd: folder });
    const { version } = JSON.parse(
      await readFile(join(prefix, 'lib', 'node_modules', 'virnucpro', 'package.json'), 'utf8'),
    ) as { version: string };
    expect(file).toContain(version);
    expect((await virnucpro('--version')).stdout).toBe(version);
    expect((await virnucpro('help')).stdout).toMatch(/Usage: virnucpro .*[^]*predict/);
  },
);
