/** What decides whether a computer can compute, and with which PyTorch: found out before there is any Python. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appError, type AppError } from '../../../contract/errors.ts';
import { HERE } from '../../system/here.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import type { CommandRunner } from '../runCommand.ts';

export type Capability = readonly [major: number, minor: number];

export interface NvidiaCard {
  readonly name: string;
  readonly capability: Capability;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  /** Of the processor, as Node writes it: x64, arm64. */
  readonly arch: string;
  /** macOS 14 is 14; null elsewhere. */
  readonly macosMajor: number | null;
  /** A Linux whose C library is musl, such as Alpine. */
  readonly musl: boolean;
  /** NVIDIA's driver, such as 580.65; null where there is none. */
  readonly nvidiaDriver: string | null;
  /** The GPUs that the driver lists; empty where it doesn't say. */
  readonly nvidia: readonly NvidiaCard[];
  /** Instruction sets of AMD's GPUs, such as gfx1100. */
  readonly amd: readonly string[];
}

const ASK_TIMEOUT_MS = 15_000;

/** Takes well under a second; a driver that hangs is waited for 15 s and then counts as one that doesn't say. */
export async function lookAtMachine(run: CommandRunner, env: NodeJS.ProcessEnv): Promise<Machine> {
  const nvidia = await askNvidia(run, env);
  return {
    platform: HERE.platform,
    arch: process.arch,
    macosMajor: HERE.macosMajor(),
    musl: HERE.hasMusl(),
    ...nvidia,
    amd: HERE.usesAmd ? await amdTargets('/') : [],
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

/** Lines such as `580.65.06, 9.0, NVIDIA H200`. */
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

/** Where nvidia-smi is missing, as in some containers, Linux still says which driver is loaded. */
async function kernelsNvidiaDriver(): Promise<string | null> {
  const text = await readFile('/proc/driver/nvidia/version', 'utf8').catch(() => '');
  return /Kernel Module\D+(\d+\.[\d.]+)/.exec(text)?.[1] ?? null;
}

/** From the files of the kernel's driver. `root`: where sys lies. */
export async function amdTargets(root: string): Promise<string[]> {
  const folder = join(root, 'sys/class/kfd/kfd/topology/nodes');
  const nodes = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    nodes.map((node) => readFile(join(folder, node, 'properties'), 'utf8').catch(() => '')),
  );
  return texts.map((text) => Number(/^gfx_target_version (\d+)$/m.exec(text)?.[1] ?? 0)).filter(Boolean).map(gfxTarget); // prettier-ignore
}

/** 90402 is gfx942: minor version and stepping are hexadecimal digits. */
function gfxTarget(version: number): string {
  const digit = (part: number): string => (part % 100).toString(16);
  return `gfx${Math.floor(version / 10_000)}${digit(Math.floor(version / 100))}${digit(version)}`;
}

/** Of the pinned PyTorch's wheels for Apple's computers. */
export const OLDEST_MACOS = 14;

const ELSEWHERE = 'Use another computer, for example a Linux server in browser mode ("virnucpro serve").';

/** Why there is no PyTorch at all for a computer, before anything is fetched; null for one that can compute. */
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
