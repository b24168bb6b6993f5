/**
 * Determines what decides whether a computer can compute, and with which PyTorch: this works before there is
 * any Python.
 */
import { readFile } from 'node:fs/promises';
import { appError, type AppError } from '../../contract/errors.ts';
import { HERE } from '../system/here.ts';
import { scrubbedEnvironment } from './pythonLaunch.ts';
import type { CommandRunner } from './runCommand.ts';

export type Capability = readonly [major: number, minor: number];

export interface NvidiaCard {
  readonly name: string;
  readonly capability: Capability;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The processor by Node's name: x64, arm64. */
  readonly arch: string;
  /** 14 for macOS 14; null on other systems. */
  readonly macosMajor: number | null;
  /** Whether this is a Linux whose C library is musl, such as Alpine. */
  readonly musl: boolean;
  /** The version of NVIDIA's driver, such as 580.65; null if there is none. */
  readonly nvidiaDriver: string | null;
  /** The GPUs that the driver lists; empty if it lists none. */
  readonly nvidia: readonly NvidiaCard[];
}

const ASK_TIMEOUT_MS = 15_000;

/**
 * Takes well under a second; it waits 15 s for a driver that hangs and then treats it as one that lists
 * nothing.
 */
export async function lookAtMachine(run: CommandRunner, env: NodeJS.ProcessEnv): Promise<Machine> {
  return {
    platform: HERE.platform,
    arch: process.arch,
    macosMajor: HERE.macosMajor(),
    musl: HERE.hasMusl(),
    ...(await askNvidia(run, env)),
  };
}

async function askNvidia(
  run: CommandRunner,
  env: NodeJS.ProcessEnv,
): Promise<Pick<Machine, 'nvidiaDriver' | 'nvidia'>> {
  const nvidiaSmi = HERE.nvidiaSmi(env);
  if (nvidiaSmi === null) return { nvidiaDriver: null, nvidia: [] };
  const outcome = await run({
    file: nvidiaSmi,
    args: ['--query-gpu=driver_version,compute_cap,name', '--format=csv,noheader'],
    env: scrubbedEnvironment(env),
    timeoutMs: ASK_TIMEOUT_MS,
  });
  const lines = outcome.ending === 'succeeded' ? outcome.stdout : '';
  const { driver, cards } = parseNvidiaSmi(lines);
  return { nvidiaDriver: driver ?? (await kernelsNvidiaDriver()), nvidia: cards };
}

/** Parses lines such as `580.65.06, 9.0, NVIDIA H200`. */
export function parseNvidiaSmi(text: string): { driver: string | null; cards: NvidiaCard[] } {
  const rows = text
    .split('\n')
    .map((line) => /^\s*(\d+[\d.]*)\s*,\s*(\d+)\.(\d+)\s*,\s*(.+?)\s*$/.exec(line))
    .filter((row) => row !== null);
  return {
    driver: rows[0]?.[1] ?? null,
    cards: rows.map(([, , major, minor, name]) => ({
      name: name ?? '',
      capability: [Number(major), Number(minor)] as const,
    })),
  };
}

/** If nvidia-smi is missing, as in some containers, Linux still reports which driver is loaded. */
async function kernelsNvidiaDriver(): Promise<string | null> {
  const text = await readFile('/proc/driver/nvidia/version', 'utf8').catch(() => '');
  return /Kernel Module\D+(\d+\.[\d.]+)/.exec(text)?.[1] ?? null;
}

/** Required by the wheels of the pinned PyTorch for Apple's computers. */
const OLDEST_MACOS = 14;

const ELSEWHERE = 'Use another computer, for example a Linux server in browser mode ("virnucpro serve").';

/** Why there is no PyTorch at all for a computer, determined before any download; null if it can compute. */
export function unsupportedMachine(machine: Machine): AppError | null {
  const { platform, arch } = machine;
  const refuse = (cause: string, nextStep: string): AppError =>
    appError('computer_unsupported', cause, { nextStep });
  if (platform === 'darwin' && arch !== 'arm64') {
    return refuse(
      'PyTorch, which does the computing, is no longer made for Macs with an Intel processor.',
      `${ELSEWHERE} A Mac with an Apple chip works too.`,
    );
  }
  if (platform === 'darwin' && machine.macosMajor !== null && machine.macosMajor < OLDEST_MACOS) {
    return refuse(
      `PyTorch, which does the computing, needs macOS ${OLDEST_MACOS} or newer; this is macOS ${machine.macosMajor}.`,
      'Update macOS under System Settings, General, Software Update, then start again.',
    );
  }
  if (platform === 'win32' && arch !== 'x64') {
    return refuse(
      'PyTorch, which does the computing, is not made for this program on Windows with an ARM processor.',
      ELSEWHERE,
    );
  }
  if (platform === 'linux' && arch !== 'x64' && arch !== 'arm64') {
    return refuse(`PyTorch, which does the computing, is not made for ${arch} processors.`, ELSEWHERE);
  }
  if (platform === 'linux' && machine.musl) {
    return refuse(
      'PyTorch, which does the computing, needs the C library glibc; this Linux has musl.',
      'Use a Linux with glibc, such as Debian, Ubuntu or Fedora; a container of one on this computer works too.',
    );
  }
  if (platform !== 'linux' && platform !== 'darwin' && platform !== 'win32') {
    return refuse(`PyTorch, which does the computing, is not made for ${platform}.`, ELSEWHERE);
  }
  return null;
}

/**
 * The versions of Python that the pinned PyTorch has wheels for. This is the only place that defines them.
 */
const MAJOR = 3;
const OLDEST_MINOR = 10;
const NEWEST_MINOR = 14;

/** For use in a sentence. */
export const SUPPORTED_PYTHONS = `Python ${MAJOR}.${OLDEST_MINOR} to ${MAJOR}.${NEWEST_MINOR}`;

/** For the command line of an installer. */
export const OLDEST_PYTHON = `${MAJOR}.${OLDEST_MINOR}`;

/** The Python that is downloaded for an environment if nothing else determines the version. */
export const MANAGED_PYTHON = '3.12';

/** A version range in uv's syntax. */
export const SUPPORTED_RANGE = `>=${MAJOR}.${OLDEST_MINOR},<${MAJOR}.${NEWEST_MINOR + 1}`;

/** `3.14`, `3.13`, ...: newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = Array.from(
  { length: NEWEST_MINOR - OLDEST_MINOR + 1 },
  (_, step) => `${MAJOR}.${NEWEST_MINOR - step}`,
);

/**
 * Whether a version such as 3.9.1 is too old. The user's own newer Python may have a newer PyTorch; an older one can't
 * run the program's own code.
 */
export function isTooOldPython(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major < MAJOR || (major === MAJOR && minor < OLDEST_MINOR);
}
