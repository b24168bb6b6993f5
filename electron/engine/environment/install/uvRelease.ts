/** The release of uv that belongs to this program, in the wheels of the package index whose hashes stand here. */

export const UV_VERSION = '0.13.9';

interface UvWheel {
  /** The platform as pip names it. */
  readonly platform: string;
  readonly sha256: string;
}

/** By Node's names of platform and processor. */
export const UV_WHEELS: Readonly<
  Record<'linux-x64' | 'linux-arm64' | 'darwin-arm64' | 'win32-x64', UvWheel>
> = {
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

export function uvFileName(platform: string): string {
  return platform.startsWith('win32') ? 'uv.exe' : 'uv';
}
