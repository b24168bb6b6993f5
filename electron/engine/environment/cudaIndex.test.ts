import { expect, it } from 'vitest';
import { cudaIndex } from './cudaIndex.ts';

const INDEX = ['--extra-index-url', 'https://download.pytorch.org/whl/cu130'];

it.each([
  ['win32', 'x64', true, INDEX],
  ['win32', 'x64', false, []],
  ['linux', 'x64', true, []],
  ['linux', 'arm64', true, INDEX],
  ['linux', 'arm64', false, []],
  ['darwin', 'arm64', true, []],
] as const)('%s on %s, NVIDIA driver: %s', (platform, arch, hasDriver, expected) => {
  const exists = (path: string) => hasDriver && /nvml\.dll$|nvidia.version$/.test(path);
  expect(cudaIndex({ platform, arch, exists })).toEqual(expected);
});
