/**
 * Puts uv, which brings Python and installs packages, where packaging and a checkout look for it:
 *
 *   node build/pack/fetchUv.ts [linux-x64 | linux-arm64 | darwin-arm64 | win32-x64]     for this computer, or for the one named
 *
 * It comes from the package index as every Python package does, in the wheel whose hash is pinned.
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
import {
  UV_VERSION as VERSION,
  UV_WHEELS,
  uvFileName,
} from '../../electron/engine/environment/install/uvRelease.ts';

const root = join(import.meta.dirname, '..', '..');

/** The folder that holds uv and its licences; fetched only where it isn't there in this version. */
export async function fetchUv(target = `${process.platform}-${process.arch}`): Promise<string> {
  const wheel = Object.entries(UV_WHEELS).find(([name]) => name === target)?.[1];
  if (wheel === undefined) {
    throw new Error(`uv is not fetched for ${target}; there are ${Object.keys(UV_WHEELS).join(', ')}.`);
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
    const name = uvFileName(target);
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
