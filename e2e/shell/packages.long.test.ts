/**
 * Whole packages as electron-builder makes them, around a made-up Electron and with the tools of this computer in the place of those that it
 * would fetch, read back by other programs.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRawHeader } from '@electron/asar';
import { parsePlistFile } from 'app-builder-lib/out/util/plist.js';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildDesktop } from '../../build/buildDesktop.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import { packAround } from './support/madeUpElectron.ts';
import { nsisTools } from './support/nsisTools.ts';

const root = join(import.meta.dirname, '..', '..');
const PNG_BEGINNING = Buffer.from('\x89PNG', 'latin1');
const NOT_FOR_USERS = /\.test\.|requirements-test|\.map$|__pycache__|node_modules|\.venv/;
const RESOURCES = [
  'app.asar',
  'app.asar.unpacked/dist/main/storeHost.mjs',
  'app.asar.unpacked/dist/main/better_sqlite3.node',
  'python-backend/src/virnucpro_backend/__init__.py',
  'python-backend/requirements.lock',
  'resources/demo-model/model.json',
  'licences/LICENSE',
  'licences/THIRD_PARTY_NOTICES.txt',
];

/** The first of these programs that is there. */
function found(...names: string[]): string | undefined {
  const paths = names.map((name) => {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    } catch {
      return undefined;
    }
  });
  return paths.find((path) => path !== undefined);
}

const sevenZip = found('7zz', '7z');
const missing =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'the made-up Electron is for Linux on x64'
    : sevenZip === undefined
      ? 'there is no 7zip here'
      : undefined;
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

let folder: string;
let tools: { ELECTRON_BUILDER_7ZIP_PATH: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packages '));
  tools = { ELECTRON_BUILDER_7ZIP_PATH: sevenZip ?? '' };
  if (missing === undefined) await buildWindow();
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing);
});

/** Paths in a list of lines, of which the last word is the path. */
const below = (names: readonly string[], prefix: string): string[] =>
  names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));

async function unpack(archive: string, into: string): Promise<string[]> {
  await execa(sevenZip ?? '', ['x', `-o${into}`, archive]);
  return (await readdir(into, { recursive: true })).map(String);
}

describe('packages for Linux', () => {
  beforeAll(async () => {
    if (missing === undefined) await buildDesktop('linux-x64');
  });

  it('deb: what it says of itself, what it holds, and its scripts', async ({ skip }) => {
    if (found('dpkg-deb') === undefined) skip('there is no dpkg-deb here');
    const fpm = join(folder, 'fpm');
    await writeFile(
      fpm,
      `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'support', 'fpm.ts')}' "$@"\n`,
    );
    await chmod(fpm, 0o755);
    const out = join(folder, 'deb');
    await packAround(out, 'linux', ['deb'], { env: { ...tools, CUSTOM_FPM_PATH: fpm } });
    const file = join(out, `virnucpro-desktop-${version}-linux-amd64.deb`);

    const field = async (name: string) => (await execa('dpkg-deb', ['--field', file, name])).stdout;
    expect(await field('Package')).toBe('virnucpro-desktop');
    expect(await field('Version')).toBe(version);
    expect(await field('Architecture')).toBe('amd64');
    expect(await field('License')).toBe('MIT');
    expect(await field('Maintainer')).toMatch(/^VirNucPro Desktop contributors <.+@.+>$/);
    expect(await field('Homepage')).toMatch(/^https:/);
    expect(await field('Description')).toContain('Find viral sequences');
    for (const library of ['libgtk-3-0', 'libnss3', 'libsecret-1-0'])
      expect(await field('Depends')).toContain(library);

    const { stdout } = await execa('dpkg-deb', ['--contents', file]);
    const entries = stdout.split('\n').map((line) => {
      const [, rights = '', owner = '', path = ''] = /^(\S+) (\S+) .*? \.\/(.*)$/.exec(line) ?? [];
      return { rights, owner, path };
    });
    const names = entries.map(({ path }) => path);
    expect(new Set(entries.map(({ owner }) => owner))).toEqual(new Set(['root/root']));
    expect(names.filter((name) => NOT_FOR_USERS.test(name))).toEqual([]);
    const place = 'opt/VirNucPro Desktop/';
    expect(below(names, `${place}resources/`)).toEqual(
      expect.arrayContaining([...RESOURCES, 'apparmor-profile', 'app-update.yml']),
    );
    const rightsOf = (name: string) => entries.find(({ path }) => path === place + name)?.rights;
    expect(rightsOf('virnucpro-desktop')).toBe('-rwxr-xr-x');
    // Given the right to become root at installation, where the system needs that.
    expect(rightsOf('chrome-sandbox')).toBe('-rwxr-xr-x');
    expect(rightsOf('allow-sandbox.sh')).toBe('-rwxr-xr-x');
    expect(entries.filter(({ rights, path }) => path !== '' && /^.{5}w|^.{8}w/.test(rights))).toEqual([]);
    expect(names.join('\n')).toMatch(/usr\/share\/icons\/hicolor\/(\d+)x\1\/apps\/virnucpro-desktop\.png/);

    const unpacked = join(folder, 'deb unpacked');
    await execa('dpkg-deb', ['--raw-extract', file, unpacked]);
    const entry = await readFile(
      join(unpacked, 'usr', 'share', 'applications', 'virnucpro-desktop.desktop'),
      'utf8',
    );
    expect(entry).toContain('Exec="/opt/VirNucPro Desktop/virnucpro-desktop" %U');
    expect(entry).toContain('StartupWMClass=virnucpro-desktop');
    expect(entry).toContain('Icon=virnucpro-desktop');
    expect(entry).toMatch(/^Categories=Science;$/m);
    const profile = await readFile(join(unpacked, place, 'resources', 'apparmor-profile'), 'utf8');
    expect(profile).toContain('profile "virnucpro-desktop" "/opt/VirNucPro Desktop/virnucpro-desktop"');
    for (const script of ['postinst', 'postrm']) {
      await execa('bash', ['-n', join(unpacked, 'DEBIAN', script)]);
      expect(await readFile(join(unpacked, 'DEBIAN', script), 'utf8')).toContain(
        '/opt/VirNucPro Desktop/virnucpro-desktop',
      );
    }
  });

  it('AppImage: a runtime, and behind it what it starts', async ({ skip }) => {
    const [mksquashfs, unsquashfs] = [found('mksquashfs'), found('unsquashfs')];
    if (mksquashfs === undefined || unsquashfs === undefined) skip('there are no squashfs-tools here');
    const toolset = join(folder, 'appimage tools');
    await mkdir(join(toolset, 'runtimes'), { recursive: true });
    await mkdir(join(toolset, 'lib', 'x64'), { recursive: true });
    await symlink(mksquashfs ?? '', join(toolset, 'mksquashfs'));
    await symlink('/bin/true', join(toolset, 'desktop-file-validate'));
    const runtime = '#!/bin/sh\nexit 1\n'.padEnd(4096);
    await writeFile(join(toolset, 'runtimes', 'runtime-x64'), runtime);
    const out = join(folder, 'AppImage');
    await packAround(out, 'linux', ['AppImage'], { env: { ...tools, APPIMAGE_TOOLS_PATH: toolset } });
    const name = (await readdir(out)).find((file) => file.endsWith('.AppImage')) ?? '';
    const file = join(out, name);
    expect((await readFile(file)).subarray(0, runtime.length).toString('latin1')).toBe(runtime);
    const unpacked = join(folder, 'AppImage unpacked');
    await execa(unsquashfs ?? '', ['-offset', String(runtime.length), '-dest', unpacked, file]);
    const names = (await readdir(unpacked, { recursive: true })).map(String);
    expect(names.filter((each) => NOT_FOR_USERS.test(each))).toEqual([]);
    expect(below(names, 'resources/')).toEqual(expect.arrayContaining(RESOURCES));
    expect(names).toEqual(
      expect.arrayContaining(['AppRun', 'virnucpro-desktop', 'chrome-sandbox', 'virnucpro-desktop.desktop']),
    );
    const start = await readFile(join(unpacked, 'AppRun'), 'utf8');
    expect(start).toContain('virnucpro-desktop');
    await execa('bash', ['-n', join(unpacked, 'AppRun')]);
    const latest = await readFile(join(out, 'latest-linux.yml'), 'utf8');
    expect(latest).toContain(`version: ${version}`);
    expect(latest).toContain(name);
  });

  it('tar.gz: the same, and how to allow its sandbox', async () => {
    const out = join(folder, 'tar.gz');
    await packAround(out, 'linux', ['tar.gz'], { env: tools });
    const name = (await readdir(out)).find((file) => file.endsWith('.tar.gz')) ?? '';
    const { stdout } = await execa('tar', ['-tzf', join(out, name)]);
    const names = stdout.split('\n').map((path) => path.replace(/^[^/]+\//, ''));
    expect(names.filter((each) => NOT_FOR_USERS.test(each))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(['allow-sandbox.sh', 'virnucpro-desktop', 'chrome-sandbox']),
    );
    expect(below(names, 'resources/')).toEqual(expect.arrayContaining(RESOURCES));
  });
});

describe('packages for Windows', () => {
  // Writing into the program's resources takes a tool that electron-builder fetches.
  const options = ['-c.win.signAndEditExecutable=false'];
  beforeAll(async () => {
    if (missing === undefined) await buildDesktop('win32-x64');
  });

  async function expectTheApp(archive: string): Promise<void> {
    const unpacked = `${archive} unpacked`;
    const names = await unpack(archive, unpacked);
    expect(names.filter((each) => NOT_FOR_USERS.test(each))).toEqual([]);
    expect(names).toContain('VirNucPro Desktop.exe');
    expect(names).not.toContain('allow-sandbox.sh');
    expect(below(names, 'resources/')).toEqual(expect.arrayContaining(RESOURCES));
    const sqlite = await readFile(
      join(unpacked, 'resources', 'app.asar.unpacked', 'dist', 'main', 'better_sqlite3.node'),
    );
    expect(sqlite.subarray(0, 2).toString('latin1')).toBe('MZ');
  }

  it('zip: the same with the native part of its own', async () => {
    const out = join(folder, 'zip');
    await packAround(out, 'win', ['zip'], { options, env: tools });
    const name = (await readdir(out)).find((file) => file.endsWith('.zip')) ?? '';
    await expectTheApp(join(out, name));
  });

  it('nsis: an installer with the app, its icon, an uninstaller, and what an older program asks for', async ({
    skip,
  }) => {
    const makensis = found('makensis');
    if (makensis === undefined) skip('there is no makensis here');
    const nsis = await nsisTools(join(folder, 'nsis tools'), makensis ?? '');
    const out = join(folder, 'nsis');
    // Those of the program: not all languages of electron-builder's are whole in Debian's NSIS.
    const languages = ['en_US', 'de_DE'].map((language) => `-c.nsis.installerLanguages=${language}`);
    await packAround(out, 'win', ['nsis'], {
      options: [...options, ...languages],
      env: { ...tools, ...nsis },
    });
    const name = `virnucpro-desktop-${version}-win-x64.exe`;
    const installer = await readFile(join(out, name));
    const unpacked = join(folder, 'nsis unpacked');
    const names = await unpack(join(out, name), unpacked);
    expect(names.find((each) => each.endsWith('/Uninstall VirNucPro Desktop.exe'))).toBeDefined();
    const app = names.find((each) => each.endsWith('/app-64.7z')) ?? '';
    await expectTheApp(join(unpacked, app));
    const icon = await readFile(join(root, 'build', 'icon.ico'));
    const largest = icon.subarray(icon.lastIndexOf(PNG_BEGINNING));
    expect(installer.includes(largest)).toBe(true);

    const latest = await readFile(join(out, 'latest.yml'), 'utf8');
    expect(latest).toContain(`version: ${version}`);
    expect(latest).toContain(name);
    expect(latest).toContain(createHash('sha512').update(installer).digest('base64'));
    expect(await readdir(out)).toContain(`${name}.blockmap`);
  });
});

it('zip for macOS, not yet signed: what the system reads of it, its helpers, its native part, its archive', async () => {
  await buildDesktop('darwin-arm64');
  const out = join(folder, 'mac');
  // Signing takes Apple's programs.
  const options = ['-c.electronFuses.resetAdHocDarwinSignature=false'];
  await packAround(out, 'mac', ['zip'], { options, env: tools, arch: 'arm64' });
  const name = (await readdir(out)).find((file) => file.endsWith('.zip')) ?? '';
  const unpacked = join(folder, 'mac unpacked');
  const names = await unpack(join(out, name), unpacked);
  const contents = 'VirNucPro Desktop.app/Contents/';
  expect(names.filter((each) => NOT_FOR_USERS.test(each))).toEqual([]);
  expect(names).not.toContain(`${contents}allow-sandbox.sh`);
  expect(below(names, `${contents}Resources/`)).toEqual(expect.arrayContaining([...RESOURCES, 'icon.icns']));
  for (const helper of ['', ' (Renderer)', ' (GPU)', ' (Plugin)'])
    expect(names).toContain(
      `${contents}Frameworks/VirNucPro Desktop Helper${helper}.app/Contents/MacOS/VirNucPro Desktop Helper${helper}`,
    );

  const resources = join(unpacked, contents, 'Resources');
  const archive = join(resources, 'app.asar');
  const header = createHash('sha256').update(getRawHeader(archive).headerString).digest('hex');
  expect(await parsePlistFile(join(unpacked, contents, 'Info.plist'))).toMatchObject({
    CFBundleExecutable: 'VirNucPro Desktop',
    CFBundleIdentifier: 'org.virnucpro.desktop',
    CFBundleIconFile: 'icon.icns',
    CFBundleShortVersionString: version,
    LSApplicationCategoryType: 'public.app-category.education',
    // Without it, or with another, Electron refuses the archive.
    ElectronAsarIntegrity: { 'Resources/app.asar': { algorithm: 'SHA256', hash: header } },
  });
  const icon = await readFile(join(resources, 'icon.icns'));
  expect(icon.equals(await readFile(join(root, 'build', 'icon.icns')))).toBe(true);
  const sqlite = await readFile(join(`${archive}.unpacked`, 'dist', 'main', 'better_sqlite3.node'));
  // A library for 64 bits, then the processor: Apple's.
  expect(sqlite.subarray(0, 8).toString('hex')).toBe('cffaedfe0c000001');
  expect(await readFile(join(out, 'latest-mac.yml'), 'utf8')).toContain(name);
});
