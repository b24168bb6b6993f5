/** What docs/requirements.md says of Pythons, drivers, cards and sizes is what the program goes by. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gpuKindSchema, offlinePlatformSchema } from '../electron/contract/rpc/computer.ts';
import {
  DISK_NEEDED,
  GPU_MEMORY_FOR_ALL,
  GPU_MEMORY_LEAST,
  MEMORY_NEEDED,
} from '../electron/engine/devices/computerChecks.ts';
import { CUDA_BUILDS, ROCM_TARGETS } from '../electron/engine/environment/install/choosePyTorch.ts';
import { MANAGED_PYTHON, SUPPORTED_PYTHONS } from '../electron/engine/environment/machine/supportedPython.ts';
import { OLDEST_MACOS } from '../electron/engine/environment/machine/unsupportedMachine.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'requirements.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

it('names the supported Pythons, as the README does', () => {
  expect(page).toContain(`else ${SUPPORTED_PYTHONS}`);
  expect(page).toContain(`(${MANAGED_PYTHON}, by uv`);
  expect(readme).toContain(SUPPORTED_PYTHONS);
  expect(page).toContain(`macOS ${OLDEST_MACOS} or newer`);
});

it('names drivers and cards of each build of PyTorch', () => {
  for (const { cuda, driver, capabilities } of CUDA_BUILDS) {
    const row = page.split('\n').find((line) => line.includes(`| CUDA ${cuda}`)) ?? '';
    const [oldest] = capabilities.x64;
    expect(row).toContain(`compute capability ${oldest?.join('.') ?? ''}`);
    expect(row).toContain(`${driver.linux}`);
    expect(row).toContain(`${driver.win32}`);
  }
  const amd = page.split('\n').find((line) => line.startsWith('| AMD')) ?? '';
  expect(amd.match(/gfx\w+/g)).toEqual([...ROCM_TARGETS]);
});

it('names the limits of the computer check', () => {
  const gigabytes = (bytes: number, digits = 0): string => `${(bytes / 1e9).toFixed(digits)} GB`;
  expect(page).toContain(`| ${gigabytes(GPU_MEMORY_FOR_ALL, 1)} and more`);
  expect(page).toContain(`| ${(GPU_MEMORY_LEAST / 1e9).toFixed(1)} to ${gigabytes(GPU_MEMORY_FOR_ALL, 1)}`);
  expect(page).toContain(`${gigabytes(MEMORY_NEEDED)} free`);
  expect(page).toMatch(new RegExp(`weights and an ordinary run +\\| ${gigabytes(DISK_NEEDED)}`));
});

it('names what is fetched, and the kinds that folders are packed for', () => {
  const file = join(root, 'python-backend', 'download-sizes.json');
  const sizes = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { packages: number; torch: number }>;
  const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  for (const { packages, torch } of Object.values(sizes)) {
    expect(page).toContain(`${whole.format(packages / 1e6)} MB and PyTorch ${whole.format(torch / 1e6)} MB`);
  }
  for (const platform of offlinePlatformSchema.options) expect(page).toContain(platform);
  for (const gpu of gpuKindSchema.options) expect(page).toContain(gpu.replace('_', '-'));
});
