/** Checks the contents of the packages without Electron's program, which not every computer can download. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getConfig, validateConfiguration } from 'app-builder-lib/out/util/config/config.js';
import { DebugLogger } from 'builder-util';
import { expect, it } from 'vitest';
import { z } from 'zod';

/** Names that the app and the installers use, in addition to the bundles. */
const packageSchema = z.object({
  name: z.string(),
  license: z.string(),
  homepage: z.url(),
  author: z.object({ name: z.string().min(1), email: z.email() }),
  desktopName: z.string(),
  main: z.literal('dist/main/main.mjs'),
});

const root = join(import.meta.dirname, '..');
const config = await getConfig(root, join(root, 'build', 'electron-builder.yml'), null);

it('is a configuration that electron-builder accepts', async () => {
  await expect(validateConfiguration(config, new DebugLogger(false))).resolves.toBeUndefined();
});

it('includes the files at the paths where the program looks for them', () => {
  const resources = z
    .array(
      z.object({ from: z.string().default('.'), to: z.string(), filter: z.array(z.string()).optional() }),
    )
    .parse(config.extraResources);
  // The tests of Python are not for users, but the licences are.
  expect(JSON.stringify(resources)).not.toContain('requirements-test');
  expect(resources).toContainEqual({
    from: '.',
    to: 'licences',
    filter: ['LICENSE', 'THIRD_PARTY_NOTICES.txt'],
  });
  // uv installs Python and the packages of the lock file.
  expect(resources).toContainEqual({ from: 'dist/uv/packed', to: 'uv' });
  const backend = resources.find(({ to }) => to === 'python-backend');
  expect(backend?.filter).toEqual(expect.arrayContaining(['requirements.txt', 'requirements.lock']));
  for (const name of backend?.filter?.filter((pattern) => !pattern.includes('*')) ?? []) {
    expect(existsSync(join(root, 'python-backend', name)), name).toBe(true);
  }
  for (const { from } of resources.filter((each) => !each.from.startsWith('dist/'))) {
    expect(existsSync(join(root, from)), from).toBe(true);
  }
  // resolveAppPaths recognises a packaged program by these two.
  expect(resources.map(({ to }) => to)).toEqual(expect.arrayContaining(['python-backend', 'resources']));
});

it('ships only bundles, and unpacks the files from which threads start', () => {
  expect(config.files).toMatchObject([
    { filter: expect.arrayContaining(['!**/node_modules/**']) as string[] },
  ]);
  // DuckDB's own library must be beside the file that Node loads.
  expect(config.asarUnpack).toEqual([
    'dist/main/storeHost.mjs',
    'dist/main/*.node',
    'dist/main/libduckdb.*',
    'dist/main/duckdb.dll',
  ]);
});

it('contains what deb and AppImage require, under names by which a desktop recognises the window', () => {
  const packageJson = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  expect(packageJson.desktopName).toBe('virnucpro-desktop.desktop');
  expect(readFileSync(join(root, 'electron', 'main', 'main.ts'), 'utf8')).toContain(
    `'${packageJson.desktopName}'`,
  );
  expect(config.linux).toMatchObject({
    executableName: 'virnucpro-desktop',
    syncDesktopName: true,
    desktop: { entry: { StartupWMClass: 'virnucpro-desktop' } },
    target: ['deb', 'AppImage', 'tar.gz'],
  });
  // Selects the runtime that does not need libfuse2.
  expect(config.toolsets).toEqual({ appimage: '1.0.3' });
  expect(config.win).toMatchObject({ target: ['nsis', 'zip'] });
  expect(config.mac).toMatchObject({ target: ['dmg', 'zip'], hardenedRuntime: true });
});

it('uses file names that stay the same wherever the files are uploaded', () => {
  const { name } = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const file = String(config.artifactName).replace('${name}', name);
  // GitHub replaces spaces and most other characters; packages for different systems or processors must have
  // different names.
  expect(file).toMatch(/^[\w.-]+-\$\{version\}-\$\{os\}-\$\{arch\}\.\$\{ext\}$/);
  for (const system of [config.linux, config.deb, config.win, config.nsis, config.mac, config.dmg]) {
    expect(system ?? {}).not.toHaveProperty('artifactName');
  }
});

it('closes the ways by which others could run code with the program', () => {
  expect(config.electronFuses).toEqual({
    runAsNode: false,
    enableCookieEncryption: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
    resetAdHocDarwinSignature: true,
  });
});

it('has a list of everything that must be filled in before a first release', () => {
  const releases = readFileSync(join(root, 'docs', 'releases.md'), 'utf8');
  const list = /## Before the first release([^]*?)\n- /.exec(releases)?.[1] ?? '';
  const files = globSync(['*', '{.github,build,electron,renderer,python-backend/src}/**/*.*'], { cwd: root });
  const holding = files.filter((file) => {
    if (/\.test\.ts$|^THIRD_PARTY/.test(file) || statSync(join(root, file)).isDirectory()) return false;
    const text = readFileSync(join(root, file), 'latin1');
    return /virnucpro\.invalid|org\.virnucpro|VirNucPro Desktop contributors/.test(text);
  });
  expect(holding.length).toBeGreaterThan(4);
  expect(holding.filter((file) => !list.includes(`\`${file}\``))).toEqual([]);
});
