/** Makes packages with electron-builder around a made-up Electron, and reads them with other programs. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getRawHeader } from '@electron/asar';
import { parsePlistFile } from 'app-builder-lib/out/util/plist.js';
import { execa } from 'execa';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { buildDesktop } from '../buildDesktop.ts';
import { buildWindow } from '../buildWindow.ts';
import { fetchDuckDb } from './fetchDuckDb.ts';
import { packAround } from './testing/madeUpElectron.ts';
import { temporaryFolder } from '../../electron/engine/testing/temporaryFolder.ts';

const root = join(import.meta.dirname, '..', '..');
const NOT_FOR_USERS = /\.test\.|requirements-test|\.map$|__pycache__|node_modules|\.venv/;
const RESOURCES = [
  'app.asar',
  'app.asar.unpacked/dist/main/storeHost.mjs',
  'app.asar.unpacked/dist/main/better_sqlite3.node',
  'app.asar.unpacked/dist/main/duckdb.node',
  'python-backend/src/virnucpro_backend/__init__.py',
  'python-backend/requirements.lock',
  'resources/teaching-model/model.json',
  'licences/LICENSE',
  'licences/THIRD_PARTY_NOTICES.txt',
];

/** Returns the first of these programs that exists. */
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
  folder = temporaryFolder();
  tools = { ELECTRON_BUILDER_7ZIP_PATH: sevenZip ?? '' };
  if (missing === undefined) await buildWindow();
});
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing);
});

/** The names below a folder, relative to it. */
const below = (names: readonly string[], prefix: string): string[] =>
  names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));

async function unpack(archive: string, into: string): Promise<string[]> {
  await execa(sevenZip ?? '', ['x', `-o${into}`, archive]);
  return (await readdir(into, { recursive: true })).map(String);
}

it('tar.gz for Linux: the app and the script that allows its sandbox', async () => {
  await fetchDuckDb('linux-x64');
  await buildDesktop('linux-x64');
  const out = join(folder, 'tar.gz');
  await packAround(out, 'linux', 'tar.gz', tools);
  const name = (await readdir(out)).find((file) => file.endsWith('.tar.gz')) ?? '';
  const { stdout } = await execa('tar', ['-tzf', join(out, name)]);
  const names = stdout.split('\n').map((path) => path.replace(/^[^/]+\//, ''));
  expect(names.filter((each) => NOT_FOR_USERS.test(each))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(['allow-sandbox.sh', 'virnucpro-desktop', 'chrome-sandbox']));
  expect(below(names, 'resources/')).toEqual(expect.arrayContaining(RESOURCES));
  expect(below(names, 'locales/').filter((each) => each.endsWith('.pak'))).toEqual(['de.pak', 'en-US.pak']);
});

it('zip for macOS, not yet signed: what the system reads in it, its helpers, its native part, its archive', async () => {
  await fetchDuckDb('darwin-arm64');
  await buildDesktop('darwin-arm64');
  const out = join(folder, 'mac');
  await packAround(out, 'mac', 'zip', tools);
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
    // If the hash is missing or different, Electron refuses the archive.
    ElectronAsarIntegrity: { 'Resources/app.asar': { algorithm: 'SHA256', hash: header } },
  });
  const icon = await readFile(join(resources, 'icon.icns'));
  expect(icon.equals(await readFile(join(root, 'build', 'icon.icns')))).toBe(true);
  const sqlite = await readFile(join(`${archive}.unpacked`, 'dist', 'main', 'better_sqlite3.node'));
  // The bytes mean a 64-bit library, then Apple's processor.
  expect(sqlite.subarray(0, 8).toString('hex')).toBe('cffaedfe0c000001');
});
