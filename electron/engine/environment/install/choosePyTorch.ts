/**
 * Chooses the build of PyTorch for a computer. The facts are those of PyTorch 2.13, from the support matrix
 * in RELEASE.md of pytorch/pytorch.
 */
import type { GpuKind } from '../../../contract/rpc/computer.ts';
import type { Capability, Machine, NvidiaCard } from '../machine.ts';

/** Builds by the names that PyTorch gives them; `mps` is the ordinary build for Apple's computers. */
export const TORCH_BUILDS = ['cu130', 'cu126', 'cpu', 'mps'] as const;
export type TorchBuild = (typeof TORCH_BUILDS)[number];

export interface TorchChoice {
  readonly build: TorchBuild;
  /**
   * Whether the build is on the ordinary package index, which has hashes and mirrors; the others are on
   * PyTorch's own index.
   */
  readonly isOrdinary: boolean;
  /** One sentence for the user. */
  readonly reason: string;
}

interface CudaBuild {
  readonly build: Extract<TorchBuild, 'cu130' | 'cu126'>;
  /** The version as in torch/version.py. */
  readonly cuda: string;
  /** The oldest major version of NVIDIA's driver that can run it. */
  readonly driver: Readonly<Record<'linux' | 'win32', number>>;
  /**
   * The GPU architectures that the wheels contain code for: it runs on GPUs of the same major version and the
   * same or a higher minor version.
   */
  readonly capabilities: Readonly<Record<'x64' | 'arm64', readonly Capability[]>>;
  /** On Linux, the newest build also contains code that the driver translates for future GPUs. */
  readonly forward: boolean;
}

/**
 * Newest first. CUDA 12.8 is no longer built: 12.6 is the one kept for older GPUs and drivers, and does not
 * support Blackwell.
 */
export const CUDA_BUILDS: readonly CudaBuild[] = [
  {
    build: 'cu130',
    cuda: '13.0',
    driver: { linux: 580, win32: 580 },
    capabilities: {
      x64: [[7, 5], [8, 0], [8, 6], [9, 0], [10, 0], [12, 0]], // prettier-ignore
      arm64: [[8, 0], [9, 0], [10, 0], [11, 0], [12, 0]], // prettier-ignore
    },
    forward: true,
  },
  {
    build: 'cu126',
    cuda: '12.6',
    driver: { linux: 525, win32: 528 },
    capabilities: {
      x64: [[5, 0], [6, 0], [7, 0], [7, 5], [8, 0], [8, 6], [9, 0]], // prettier-ignore
      arm64: [[8, 0], [9, 0]], // prettier-ignore
    },
    forward: false,
  },
];

/** Volta is the first architecture with tensor cores. */
const FAST_SINCE = 7;

/** The build on the ordinary package index. */
function ordinaryBuild({ platform }: { readonly platform: string }): TorchBuild {
  if (platform === 'linux') return 'cu130';
  return platform === 'darwin' ? 'mps' : 'cpu';
}

function isOrdinaryBuild(build: TorchBuild, system: { readonly platform: string }): boolean {
  return build === ordinaryBuild(system);
}

const BUILD_FOR: Readonly<Record<GpuKind, TorchBuild>> = {
  nvidia: 'cu130',
  nvidia_older: 'cu126',
  apple: 'mps',
  none: 'cpu',
};

/**
 * The build for a kind of GPU, independent of this computer's hardware; null if there is none. `target`: such
 * as linux-x64.
 */
export function pyTorchFor(target: string, gpu: GpuKind): Pick<TorchChoice, 'build' | 'isOrdinary'> | null {
  const [platform = ''] = target.split('-');
  if ((platform === 'darwin') !== (gpu === 'apple')) return null;
  const build = BUILD_FOR[gpu];
  return { build, isOrdinary: isOrdinaryBuild(build, { platform }) };
}

/** The build of a version such as 2.13.0+cpu. The ordinary build has no suffix. */
function buildOf(version: string | undefined, system: { readonly platform: string }): string {
  return /\+(.+)$/.exec(version ?? '')?.[1] ?? ordinaryBuild(system);
}

/** The build that was installed instead of the chosen one; null if the chosen one was installed. */
export function otherBuild(
  version: string | undefined,
  chosen: Pick<TorchChoice, 'build'>,
  system: { readonly platform: string },
): string | null {
  const arrived = buildOf(version, system);
  return arrived === chosen.build ? null : arrived;
}

/**
 * Whether a build can do everything that the chosen one can: the build for NVIDIA's GPUs also computes on
 * processors.
 */
export function servesAs(build: string, chosen: Pick<TorchChoice, 'build'>): boolean {
  return build === chosen.build || (chosen.build === 'cpu' && build === 'cu130');
}

export function gpuKindOf(build: string): GpuKind {
  const kinds = Object.keys(BUILD_FOR) as GpuKind[];
  return kinds.find((kind) => BUILD_FOR[kind] === build) ?? 'none';
}

/**
 * `gpu`: the GPUs of the computers that will use the environment, if these are not this one. Null if there is
 * no build.
 */
export function choosePyTorchFor(machine: Machine, gpu: GpuKind | null): TorchChoice | null {
  if (gpu === null) return choosePyTorch(machine);
  const choice = pyTorchFor(`${machine.platform}-${machine.arch}`, gpu);
  return choice && { ...choice, reason: 'As it was asked for.' };
}

export function choosePyTorch(machine: Machine): TorchChoice {
  const choice = (build: TorchBuild, reason: string): TorchChoice => ({
    build,
    isOrdinary: isOrdinaryBuild(build, machine),
    reason,
  });
  if (machine.platform === 'darwin') return choice('mps', 'For the GPU of this Mac.');
  if (machine.nvidiaDriver !== null) return forNvidia(machine, machine.nvidiaDriver, choice);
  return choice('cpu', 'For the processor: no GPU with a working driver was found.');
}

function forNvidia(
  machine: Machine,
  driver: string,
  choice: (build: TorchBuild, reason: string) => TorchChoice,
): TorchChoice {
  const runnable = CUDA_BUILDS.filter((build) => driverRuns(build, driver, machine.platform));
  const [newest] = runnable;
  if (newest === undefined) {
    return choice(
      'cpu',
      `For the processor: NVIDIA's driver ${driver} is too old; with ${oldestDriver(machine.platform)} or newer the GPU computes.`,
    );
  }
  // The driver is installed but doesn't list its GPUs: choose the newest build that it can run.
  if (machine.nvidia.length === 0) return choice(newest.build, `For NVIDIA's driver ${driver}.`);
  // A GPU without fast half precision would slow down all others, so it decides only if there is no better
  // one.
  const fast = machine.nvidia.filter(({ capability: [major] }) => major >= FAST_SINCE);
  const wanted = fast.length > 0 ? fast : machine.nvidia;
  const served = (build: CudaBuild): NvidiaCard[] =>
    wanted.filter(({ capability }) => hasCodeFor(build, capability, machine));
  // Choose the newest build that supports all GPUs, else the one that supports most of them.
  const best = runnable.toSorted((a, b) => served(b).length - served(a).length)[0] ?? newest;
  const cards = served(best);
  if (cards.length === 0) {
    const names = [...new Set(machine.nvidia.map(({ name }) => name))].join(', ');
    return choice(
      'cpu',
      `For the processor: no PyTorch for NVIDIA's driver ${driver} knows ${names}. A newer driver may help.`,
    );
  }
  const left = machine.nvidia
    .filter(({ capability }) => !hasCodeFor(best, capability, machine))
    .map(({ name }) => name);
  const names = [...new Set(cards.map(({ name }) => name))].join(', ');
  const without = left.length > 0 ? ` ${[...new Set(left)].join(', ')} can't be used with it.` : '';
  return choice(best.build, `CUDA ${best.cuda} for ${names} with NVIDIA's driver ${driver}.${without}`);
}

/** Either PyTorch has no code for the GPU, or it is built for a newer CUDA than the driver supports. */
type CardBlock = 'architecture' | 'driver';

/**
 * Why a PyTorch built for a version of CUDA can't use a GPU, determined without trying it; null if it can, or
 * if nothing is known.
 * `driversCuda`: the newest CUDA that the driver supports.
 */
export function cardBlock(
  cuda: string,
  capability: Capability,
  driversCuda: string | null,
  system: Pick<Machine, 'platform' | 'arch'>,
): CardBlock | null {
  const build = CUDA_BUILDS.find((each) => each.cuda === cuda);
  if (build === undefined) return null;
  if (!hasCodeFor(build, capability, system)) return 'architecture';
  // A driver runs code built for an earlier CUDA, or for a later one of the same major version.
  return driversCuda === null || Number.parseInt(driversCuda, 10) >= Number.parseInt(cuda, 10)
    ? null
    : 'driver';
}

function driverRuns(build: CudaBuild, driver: string, platform: NodeJS.Platform): boolean {
  return Number.parseInt(driver, 10) >= build.driver[platform === 'win32' ? 'win32' : 'linux'];
}

function oldestDriver(platform: NodeJS.Platform): number {
  return Math.min(...CUDA_BUILDS.map(({ driver }) => driver[platform === 'win32' ? 'win32' : 'linux']));
}

function hasCodeFor(
  { capabilities, forward }: CudaBuild,
  [major, minor]: Capability,
  { platform, arch }: Pick<Machine, 'platform' | 'arch'>,
): boolean {
  const known = capabilities[arch === 'arm64' ? 'arm64' : 'x64'];
  if (known.some(([knownMajor, knownMinor]) => knownMajor === major && knownMinor <= minor)) return true;
  const [newestMajor = 0] = known.at(-1) ?? [];
  return forward && platform === 'linux' && major > newestMajor;
}
