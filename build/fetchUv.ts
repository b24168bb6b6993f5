/**
 * Puts uv, which brings Python and installs packages, where packaging and a checkout look for it:
 *
 *   node build/fetchUv.ts [linux-x64 | linux-arm64 | darwin-arm64 | win32-x64]     for this computer, or for the one named
 *
 * It comes from the package index as every Python package does, in the wheel whose hash stands here.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

const VERSION = '0.13.9';

/** The platform as pip names it, and the SHA-256 of the wheel. */
const WHEELS: Readonly<Record<string, { platform: string; sha256: string }>> = {
  'linux-x64': {
    platform: 'manylinux_2_17_x86_64',
    sha256: 'd7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19',
  },
  'linux-arm64': {
    platform: 'manylinux_2_17_aarch64',
    sha256: '5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63',
  },
  'win32-x64': {
    platform: 'win_amd64',
    sha256: '6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b',
  },
};

const root = join(import.meta.dirname, '..');

/** The folder that holds uv and its licences; fetched only where it isn't there in this version. */
export async function fetchUv(target = `${process.platform}-${process.arch}`): Promise<string> {
  const wheel = WHEELS[target];
  if (wheel === undefined) {
    throw new Error(`uv is not fetched for ${target}; there are ${Object.keys(WHEELS).join(', ')}.`);
  }
  const folder = join(root, 'dist', 'uv', target);
  const stamp = join(folder, `${VERSION}-${wheel.sha256.slice(0, 12)}`);
  if (existsSync(stamp)) return folder;
  const work = mkdtempSync(join(tmpdir(), 'uv-'));
  try {
    const python = await pythonWithPip();
    const requirement = join(work, 'uv.txt');
    writeFileSync(requirement, `uv==${VERSION} --hash=sha256:${wheel.sha256}\n`);
    const download =
      '-m pip download --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes';
    await execa(
      python,
      [...download.split(' '), '--platform', wheel.platform, '--dest', work, '-r', requirement],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    const file = readdirSync(work).find((name) => name.endsWith('.whl'));
    if (file === undefined) throw new Error('pip downloaded no wheel of uv.');
    // A wheel is a ZIP archive.
    await execa(python, ['-m', 'zipfile', '-e', join(work, file), join(work, 'wheel')]);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const name = target.startsWith('win32') ? 'uv.exe' : 'uv';
    cpSync(join(work, 'wheel', `uv-${VERSION}.data`, 'scripts', name), join(folder, name));
    chmodSync(join(folder, name), 0o755);
    cpSync(join(work, 'wheel', `uv-${VERSION}.dist-info`, 'licenses'), folder, { recursive: true });
    writeFileSync(stamp, '');
    return folder;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The checkout's own where there is one; some systems' Pythons have no pip. */
async function pythonWithPip(): Promise<string> {
  const environment = join(root, 'python-backend', '.venv');
  const candidates = [
    process.platform === 'win32'
      ? join(environment, 'Scripts', 'python.exe')
      : join(environment, 'bin', 'python'),
    ...(process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python']),
  ];
  for (const python of candidates) {
    const asked = await execa(python, ['-m', 'pip', '--version'], { reject: false });
    if (!asked.failed) return python;
  }
  throw new Error('A Python with pip is needed to fetch uv, and none was found.');
}

if (import.meta.main) process.stdout.write(`${await fetchUv(process.argv[2])}\n`);
