/** The kinds of computers that a folder can be packed for, as the tools name them. */
import type { OfflinePlatform } from '../../contract/rpc/computer.ts';
import { KIND_HERE } from '../system/here.ts';

export interface Target {
  readonly platform: NodeJS.Platform;
  readonly arch: 'x64' | 'arm64';
  /** For `uv pip compile --python-platform`. */
  readonly uvPlatform: string;
  /** The rest of the name that uv gives a managed Python. */
  readonly pythonKey: string;
  /** For `pip download --platform`, the newest first. */
  readonly pipPlatforms: readonly string[];
}

/** The newest glibc that the packages may ask for; older ones are asked for by name, since pip doesn't derive them. */
const GLIBC = 28;

function manylinux(processor: string, oldest: number): string[] {
  return Array.from({ length: GLIBC - oldest + 1 }, (_, step) => `manylinux_2_${GLIBC - step}_${processor}`);
}

export const TARGETS: Readonly<Record<OfflinePlatform, Target>> = {
  'linux-x64': {
    platform: 'linux',
    arch: 'x64',
    uvPlatform: 'x86_64-manylinux_2_28',
    pythonKey: 'linux-x86_64-gnu',
    pipPlatforms: [
      ...manylinux('x86_64', 5),
      'manylinux2014_x86_64',
      'manylinux2010_x86_64',
      'manylinux1_x86_64',
    ],
  },
  'linux-arm64': {
    platform: 'linux',
    arch: 'arm64',
    uvPlatform: 'aarch64-manylinux_2_28',
    pythonKey: 'linux-aarch64-gnu',
    pipPlatforms: [...manylinux('aarch64', 17), 'manylinux2014_aarch64'],
  },
  'darwin-arm64': {
    platform: 'darwin',
    arch: 'arm64',
    uvPlatform: 'aarch64-apple-darwin',
    pythonKey: 'macos-aarch64-none',
    pipPlatforms: ['macosx_14_0_arm64'],
  },
  'win32-x64': {
    platform: 'win32',
    arch: 'x64',
    uvPlatform: 'x86_64-pc-windows-msvc',
    pythonKey: 'windows-x86_64-none',
    pipPlatforms: ['win_amd64'],
  },
};

/** A kind of computer, such as `linux-x64`; null where it is none of these. */
export function ownPlatform(kind: string = KIND_HERE): OfflinePlatform | null {
  const names = Object.keys(TARGETS) as OfflinePlatform[];
  return names.find((name) => name === kind) ?? null;
}
