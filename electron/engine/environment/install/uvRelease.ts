/** The release of uv that belongs to this program: the hashes of its wheels on the package index, and of the program in each. */

export const UV_VERSION = '0.13.9';

interface UvWheel {
  /** The platform as pip names it. */
  readonly platform: string;
  readonly sha256: string;
  /** SHA-256 of the program in the wheel, for where only that is at hand. */
  readonly program: string;
}

/** By Node's names of platform and processor. */
export const UV_WHEELS: Readonly<
  Record<'linux-x64' | 'linux-arm64' | 'darwin-arm64' | 'win32-x64', UvWheel>
> = {
  'linux-x64': {
    platform: 'manylinux_2_17_x86_64',
    sha256: 'd7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19',
    program: 'b73acdf73b96c3ac9e56d2fa933427b3ee6a901e3cce6ba1e3ecb3f91ca0d86a',
  },
  'linux-arm64': {
    platform: 'manylinux_2_17_aarch64',
    sha256: '5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe',
    program: 'bbecb5ac518030bb5e84f1999c577228460192832ac24a92bd772735682979f4',
  },
  'darwin-arm64': {
    platform: 'macosx_11_0_arm64',
    sha256: '66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63',
    program: '0e17c316d23b33b4e840669f516f5cb7f5c1faa816ebd3824052ab50082ecefb',
  },
  'win32-x64': {
    platform: 'win_amd64',
    sha256: '6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b',
    program: '7e6349bc24cfc7249f892c41298e4371826a19008c3cbcfe13eacd08ac398470',
  },
};

export function uvFileName(platform: string): string {
  return platform.startsWith('win32') ? 'uv.exe' : 'uv';
}
