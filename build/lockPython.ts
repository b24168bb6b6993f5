/**
 * `npm run node -- build/lockPython.ts`: writes the lock files of the Python environment after one of the
 * requirements*.txt has changed, with the hashes of all files of every package, for all systems and all
 * supported Pythons; also writes how much a set-up downloads. `-- --upgrade` uses the newest releases that
 * the requirements allow.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { MANAGED_PYTHON, OLDEST_PYTHON } from '../electron/engine/environment/machine.ts';
import { UV_KINDS, uvFileName } from '../electron/engine/environment/install/uv.ts';
import { OF_TORCH } from '../electron/engine/environment/requirements.ts';
import { fetchUv } from './pack/fetchUv.ts';

const backend = join(import.meta.dirname, '..', 'python-backend');
const uv = join(await fetchUv(), uvFileName(process.platform));
const work = mkdtempSync(join(tmpdir(), 'lock-'));

try {
  const upgrade = process.argv.slice(2);
  const universal = [
    '--universal',
    '--python-version',
    OLDEST_PYTHON,
    '--generate-hashes',
    '--no-header',
    '--no-annotate',
  ];
  await compile('requirements.lock', [...universal, ...upgrade, 'requirements.txt']);
  await compile('requirements-test.lock', [
    ...universal,
    ...upgrade,
    '--constraints',
    'requirements.lock',
    'requirements.txt',
    'requirements-test.txt',
  ]);
  writeFileSync(join(backend, 'download-sizes.json'), `${JSON.stringify(await sizes(), null, 2)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function compile(output: string, args: readonly string[]): Promise<void> {
  await execa(uv, ['pip', 'compile', '--no-config', '--quiet', '--output-file', output, ...args], {
    cwd: backend,
    stdio: ['ignore', 'inherit', 'inherit'],
    // The macOS wheels of PyTorch need macOS 14 or newer.
    env: { MACOSX_DEPLOYMENT_TARGET: '14.0', UV_FIND_LINKS: '' },
  });
}

/**
 * Size of the downloads in bytes for the Python that the program installs, with PyTorch and its libraries
 * counted separately.
 */
async function sizes(): Promise<Record<string, { packages: number; torch: number }>> {
  const all: Record<string, { packages: number; torch: number }> = {};
  for (const [name, { platform }] of Object.entries(UV_KINDS)) {
    const file = join(work, `pylock.${name}.toml`);
    await compile(file, [
      ...['--python-platform', platform, '--python-version', MANAGED_PYTHON, '--only-binary=:all:'],
      ...['--format', 'pylock.toml', '--constraints', 'requirements.lock', 'requirements.txt'],
    ]);
    all[name] = sum(readFileSync(file, 'utf8'), name);
  }
  return all;
}

function sum(lock: string, kind: string): { packages: number; torch: number } {
  const total = { packages: 0, torch: 0 };
  for (const entry of lock.split('[[packages]]').slice(1)) {
    const [, name = ''] = /^name = "(.+)"$/m.exec(entry) ?? [];
    // If several wheels of one release fit, uv takes one of them; they are about as large.
    const sizes = [...entry.matchAll(/\.whl".*?size = (\d+)/g)].map(([, size]) => Number(size));
    if (sizes.length === 0) throw new Error(`No size of ${name} for ${kind} in the lock file.`);
    total[OF_TORCH.test(name) ? 'torch' : 'packages'] += Math.min(...sizes);
  }
  return total;
}
