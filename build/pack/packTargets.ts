/**
 * Parses the arguments of `npm run pack`: kinds of computers, and options that are passed on to
 * electron-builder.
 */

import { UV_KINDS } from '../../electron/engine/environment/install/uv.ts';

export interface PackTarget {
  platform: 'linux' | 'win32' | 'darwin';
  arch: 'x64' | 'arm64';
}

export type PackRequest =
  { ok: true; targets: PackTarget[]; passedOn: string[] } | { ok: false; reason: string };

const PLATFORMS: Readonly<Record<string, PackTarget['platform']>> = {
  '--linux': 'linux',
  '-l': 'linux',
  '--win': 'win32',
  '--windows': 'win32',
  '-w': 'win32',
  '--mac': 'darwin',
  '--macos': 'darwin',
  '-m': 'darwin',
};

/** The names that electron-builder uses. */
export const BUILDER_FLAGS: Readonly<Record<PackTarget['platform'], string>> = {
  linux: '--linux',
  win32: '--win',
  darwin: '--mac',
};

const NO_NATIVE_PART = new Set(['--ia32', '--armv7l', '--universal']);

/**
 * Packs for this kind of computer unless others are named. Each kind needs its own native parts, so each is
 * packed separately.
 */
export function packRequest(
  args: readonly string[],
  host: { platform: NodeJS.Platform; arch: string } = process,
): PackRequest {
  const refuse = (reason: string): PackRequest => ({ ok: false, reason });
  const unknown = args.find((argument) => NO_NATIVE_PART.has(argument));
  if (unknown !== undefined) {
    return refuse(
      `${unknown}: there are native parts for --x64 and --arm64 only, each in packages of its own.`,
    );
  }
  const platforms = [...new Set(args.flatMap((argument) => PLATFORMS[argument] ?? []))];
  const arches = (['x64', 'arm64'] as const).filter((arch) => args.includes(`--${arch}`));
  if (platforms.length === 0) {
    const own = Object.values(PLATFORMS).find((platform) => platform === host.platform);
    if (own === undefined)
      return refuse(`There are no packages for ${host.platform}; name --linux, --win or --mac.`);
    platforms.push(own);
  }
  if (arches.length === 0) {
    const own = (['x64', 'arm64'] as const).find((arch) => arch === host.arch);
    if (own === undefined) return refuse(`There are no packages for ${host.arch}; name --x64 or --arm64.`);
    arches.push(own);
  }
  if (platforms.includes('darwin') && host.platform !== 'darwin') {
    return refuse('--mac: packages for macOS can be made on macOS only, which signs them.');
  }
  const targets = platforms.flatMap((platform) => arches.map((arch) => ({ platform, arch })));
  const impossible = targets.find(({ platform, arch }) => !(`${platform}-${arch}` in UV_KINDS));
  if (impossible) {
    const { platform, arch } = impossible;
    return refuse(
      `${platform}-${arch}: there is no PyTorch for such computers, so there are no packages for them.`,
    );
  }
  const ours = new Set([...Object.keys(PLATFORMS), '--x64', '--arm64']);
  return {
    ok: true,
    targets,
    passedOn: args.filter((argument) => !ours.has(argument)),
  };
}

/**
 * How macOS packages are signed. With a certificate and Apple's secrets they are signed and notarised.
 * Without these they are signed ad hoc, which Apple's processors require, and not hardened, since a hardened
 * program refuses parts that are not signed by a team.
 */
export function macSigning(env: NodeJS.ProcessEnv): string[] {
  const hasCertificate = ['CSC_LINK', 'CSC_NAME'].some((name) => Boolean(env[name]));
  if (!hasCertificate) return ['-c.mac.identity=-', '-c.mac.hardenedRuntime=false', '-c.mac.notarize=false'];
  const canNotarize = ['APPLE_API_KEY', 'APPLE_ID', 'APPLE_KEYCHAIN'].some((name) => Boolean(env[name]));
  return ['-c.electronFuses.resetAdHocDarwinSignature=false', `-c.mac.notarize=${canNotarize}`];
}

/**
 * Explains why packing will fail; otherwise it would fail after minutes with a library's stack trace that
 * only names a host.
 */
export function unreachableWords(source: string): string {
  return (
    `${new URL(source).host} cannot be reached. Packing fetches Electron's program from there, and the tools that make installers from ` +
    'github.com, unless they have been fetched before.\n' +
    '  What to do: set ELECTRON_MIRROR and ELECTRON_BUILDER_BINARIES_MIRROR to mirrors of the two, or name a folder with an unpacked ' +
    "Electron of package.json's version:\n  npm run pack -- --dir -c.electronDist=FOLDER"
  );
}
