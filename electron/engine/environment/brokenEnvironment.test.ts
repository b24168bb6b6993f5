/**
 * Environments of a real interpreter that are broken in real ways, with small packages in place of the large
 * ones.
 */
import { cp, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { resolveAppPaths, type AppPaths } from './appPaths.ts';
import { HERE } from '../system/here.ts';
import { checkEnvironment } from './checkEnvironment.ts';
import { requirementsHash, writeStamp } from './requirements.ts';
import { runCommand } from './runCommand.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let root: string;
let whole: string;
let paths: AppPaths;
let copies = 0;

beforeAll(async () => {
  const resolved = resolveAppPaths();
  if (!resolved.ok) throw new Error(resolved.error.cause);
  root = temporaryFolder();
  whole = join(root, 'whole');
  const made = await runCommand({
    file: HERE.interpreterIn(resolved.value.environmentFolder),
    args: ['-I', '-m', 'venv', '--without-pip', whole],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  if (made.ending !== 'succeeded') throw new Error(made.stderr);
  const check = await readFile(
    join(resolved.value.pythonSource, 'virnucpro_backend', 'environment_check.py'),
    'utf8',
  );
  const block = /PACKAGES = \{([^}]*)\}/.exec(check)?.[1] ?? '';
  const site = await sitePackages(whole);
  for (const [, distribution = '', module = ''] of block.matchAll(/"([^"]+)": "([^"]+)"/g)) {
    await mkdir(join(site, module), { recursive: true });
    await writeFile(join(site, module, '__init__.py'), `VERSION = {"number": 1}\n`);
    const info = join(site, `${distribution.replaceAll('-', '_')}-1.0.dist-info`);
    await mkdir(info);
    await writeFile(join(info, 'METADATA'), `Metadata-Version: 2.1\nName: ${distribution}\nVersion: 1.0\n`);
  }
  paths = { ...resolved.value, environmentFolder: whole };
  const found = await checkEnvironment({ paths }, true);
  expect(found).toMatchObject({
    ok: false,
    error: { cause: expect.stringContaining('to its end') as string },
  });
});

beforeEach(async () => {
  copies += 1;
  const copy = join(root, `copy ${copies}`);
  await cp(whole, copy, { recursive: true, verbatimSymlinks: true });
  paths = { ...paths, environmentFolder: copy };
  const packages = Object.fromEntries([['torch', '1.0']]);
  const hashes = { run: await requirementsHash('run', paths), test: null, ray: null };
  writeStamp(copy, {
    installer: 'uv',
    torchBuild: 'cpu',
    gpu: null,
    hashes,
    pythonVersion: '3',
    packages,
  });
});
afterEach(() => rm(paths.environmentFolder, { recursive: true, force: true }));

it('a complete copy is usable, so that the tests below report only what they break', async () => {
  expect(await checkEnvironment({ paths }, true)).toMatchObject({ ok: true });
});

it.each<[string, (folder: string, site: string) => Promise<unknown>, RegExp]>([
  ['a missing package', (_, site) => rm(join(site, 'torch'), { recursive: true }), /torch is not installed/],
  [
    'a folder without its files, as after a disk check',
    (_, site) => rm(join(site, 'numpy', '__init__.py')),
    /numpy is not installed/,
  ],
  [
    'a file that was cut off',
    (_, site) => truncate(join(site, 'torch', '__init__.py'), 12),
    /torch cannot be imported: SyntaxError/,
  ],
  [
    'a file of zeros, as after a power cut',
    (_, site) => writeFile(join(site, 'torch', '__init__.py'), Buffer.alloc(64)),
    /torch cannot be imported/,
  ],
  [
    'another version of a package',
    async (_, site) => {
      await rm(join(site, 'torch-1.0.dist-info'), { recursive: true });
      await mkdir(join(site, 'torch-2.0.dist-info'));
      await writeFile(join(site, 'torch-2.0.dist-info', 'METADATA'), 'Name: torch\nVersion: 2.0\n');
    },
    /changed the packages.*torch/,
  ],
  [
    'a Python that was removed or updated away',
    async (folder) => {
      const file = HERE.interpreterIn(folder);
      await rm(file);
      await symlink(join(folder, 'gone', 'python3.9'), file);
    },
    /cannot be started/,
  ],
  [
    'an installation that was cut off',
    (folder) => rm(join(folder, 'virnucpro-environment.json')),
    /not been set up to its end/,
  ],
  [
    'a record that was cut off',
    (folder) => truncate(join(folder, 'virnucpro-environment.json'), 20),
    /not been set up to its end/,
  ],
])('detects %s', async (_, damage, cause) => {
  await damage(paths.environmentFolder, await sitePackages(paths.environmentFolder));
  expect(await checkEnvironment({ paths }, true)).toMatchObject({
    ok: false,
    error: { code: 'python_broken', cause: expect.stringMatching(cause) as string },
  });
});

async function sitePackages(folder: string): Promise<string> {
  const asked = await runCommand({
    file: HERE.interpreterIn(whole),
    args: ['-I', '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'],
    env: {},
  });
  return asked.stdout.trim().replace(whole, folder);
}
