import { expect, it } from 'vitest';
import { electronSource } from '../electronBinary.ts';
import { macSigning, packRequest, unreachableWords } from './packTargets.ts';

const linux = { platform: 'linux', arch: 'x64' } as const;

it('packs for this computer, or for each named kind with its own native parts', () => {
  expect(packRequest(['--dir'], linux)).toEqual({
    ok: true,
    targets: [{ platform: 'linux', arch: 'x64' }],
    passedOn: ['--dir'],
  });
  expect(packRequest(['-l', '--arm64', '--x64'], linux)).toEqual({
    ok: true,
    targets: [
      { platform: 'linux', arch: 'x64' },
      { platform: 'linux', arch: 'arm64' },
    ],
    passedOn: [],
  });
  expect(packRequest(['--win', '-l'], linux)).toMatchObject({
    targets: [
      { platform: 'win32', arch: 'x64' },
      { platform: 'linux', arch: 'x64' },
    ],
  });
});

it.each([
  [['--mac'], 'macOS only'],
  [['--win', '--arm64'], 'no PyTorch'],
  [['--ia32'], '--x64 and --arm64'],
  [['--universal'], '--x64 and --arm64'],
])('refuses %s with an explanation', (args, words) => {
  const refused = packRequest(args, linux);
  expect(!refused.ok && refused.reason).toContain(words);
});

it('refuses a computer that is not supported', () => {
  expect(packRequest([], { platform: 'freebsd', arch: 'x64' }).ok).toBe(false);
  expect(packRequest([], { platform: 'linux', arch: 'riscv64' }).ok).toBe(false);
  // This computer is an Intel Mac.
  expect(packRequest([], { platform: 'darwin', arch: 'x64' }).ok).toBe(false);
});

it('signs ad hoc for macOS without a certificate, and notarises if the secrets are available', () => {
  expect(macSigning({})).toEqual(
    expect.arrayContaining(['-c.mac.identity=-', '-c.mac.hardenedRuntime=false']),
  );
  expect(macSigning({ CSC_LINK: 'file' })).toContain('-c.mac.notarize=false');
  const signed = macSigning({ CSC_LINK: 'file', APPLE_API_KEY: 'key' });
  expect(signed).toContain('-c.mac.notarize=true');
  expect(signed.join(' ')).not.toContain('identity');
});

it('names the download address of Electron that cannot be reached, also for a mirror', () => {
  expect(unreachableWords(electronSource({}))).toContain('github.com cannot');
  const env = { ELECTRON_MIRROR: 'https://mirror.example.org/electron/' };
  expect(unreachableWords(electronSource(env))).toContain('mirror.example.org cannot');
});
