/** Determines which wheels the other computer needs for an offline set-up, and downloads them. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appError, type AppError, err, ok, type Result } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { PackOffline, StepProgress } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import type { TorchBuild, TorchChoice } from '../environment/install/choosePyTorch.ts';
import { installerFailure, isNetworkError } from '../environment/install/failures.ts';
import type { DownloadSizes } from '../environment/install/setUpPlan.ts';
import { UV_KINDS, uvEnvironment } from '../environment/install/uv.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { lockEntry, lockFile, OF_TORCH, torchVersion } from '../environment/requirements.ts';
import type { CommandRunner } from '../environment/runCommand.ts';
import type { Steps } from '../environment/steps.ts';
import { fetchFiles } from '../models/weights.ts';
import { PLACES } from './offlineFolder.ts';

const NEXT_STEP =
  'Check the network, and the proxy and the mirror under Settings, then start again: it goes on where it stopped.';

export interface PackRequest extends PackOffline {
  readonly paths: AppPaths;
  /** Downloads the wheels; it need not be on the platform that is packed for. */
  readonly environment: PythonEnvironment;
  readonly appVersion: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: StepProgress) => void;
}

/** A request together with what is needed to carry it out. */
export interface Packing extends PackRequest {
  /** A folder for files that are only needed while packing. */
  readonly work: string;
  readonly run: CommandRunner;
  readonly env: NodeJS.ProcessEnv;
  /** The uv for this computer. */
  readonly uv: string;
  /** The Python version of the other computer, such as 3.12. */
  readonly python: string;
  readonly steps: Steps;
}

interface Wheel {
  /** Name and version of the wheel's package, such as numpy==2.4.6. */
  readonly release: string;
  readonly url: string;
  readonly name: string;
  readonly size: number | null;
  readonly sha256: string;
}

/**
 * Downloads the wheels, and writes the lock file of a PyTorch that the program's own lock file does not
 * contain. Returns its build.
 */
export async function packPackages(
  packing: Packing,
  torch: Pick<TorchChoice, 'build' | 'isOrdinary'>,
  sizes: DownloadSizes,
): Promise<Result<TorchBuild>> {
  const { folder, paths, steps, platform } = packing;
  steps.begin(message('step.get_packages'), { bytes: sizes.packages });
  const locked = await wheelsOf(packing, ['--no-deps', lockFile('run', paths)]);
  if (!locked.ok) return locked;
  const lock = await readFile(lockFile('run', paths), 'utf8');
  const unknown = locked.value.find(({ sha256 }) => !lock.includes(`sha256:${sha256}`));
  if (unknown !== undefined) return err(notPublished(unknown));
  const others = locked.value.filter(({ release }) => !OF_TORCH.test(release));
  const fetched = await fetchWheels(packing, others);
  if (!fetched.ok) return fetched;

  steps.begin(message('step.get_pytorch', { build: torch.build }), { bytes: sizes.torch });
  let { build } = torch;
  let wheels = locked.value.filter(({ release }) => OF_TORCH.test(release));
  const torchLock = join(folder, PLACES.torchLock);
  await rm(torchLock, { force: true });
  if (!torch.isOrdinary) {
    const special = await specialTorch(packing, build);
    if (special.ok) {
      const packed = new Set(others.map(({ release }) => release));
      wheels = special.value.filter(({ release }) => !packed.has(release));
      await writeFile(torchLock, wheels.map(({ release, sha256 }) => lockEntry(release, [sha256])).join(''));
    } else if (build === 'cpu' && platform.startsWith('linux') && isNetworkError(special.error)) {
      // If its index is unreachable, the ordinary build computes on processors too: it is only larger.
      build = 'cu130';
    } else {
      return special;
    }
  }
  const fetchedTorch = await fetchWheels(packing, wheels);
  if (!fetchedTorch.ok) return fetchedTorch;
  await removeOtherWheels(folder, [...others, ...wheels]);
  return ok(build);
}

/**
 * Finds the wheels of a build from PyTorch's own index and of its dependencies, pinned if the lock file names
 * them.
 */
async function specialTorch(packing: Packing, build: TorchBuild): Promise<Result<Wheel[]>> {
  const wanted = join(packing.work, 'torch.txt');
  await writeFile(wanted, `torch==${await torchVersion(packing.paths)}\n`);
  return wheelsOf(packing, [
    ...['--torch-backend', build],
    ...['--constraints', lockFile('run', packing.paths)],
    wanted,
  ]);
}

/** Finds the wheels that `uv pip compile` chooses for the other computer. */
async function wheelsOf(packing: Packing, args: readonly string[]): Promise<Result<Wheel[]>> {
  const { run, uv, paths, env, work, signal, platform, python } = packing;
  const output = join(work, 'pylock.toml');
  const outcome = await run({
    file: uv,
    args: [
      ...['pip', 'compile', '--quiet', '--format', 'pylock.toml', '--output-file', output],
      ...[
        '--only-binary=:all:',
        '--python-platform',
        UV_KINDS[platform].platform,
        '--python-version',
        python,
      ],
      ...args,
    ],
    env: {
      ...uvEnvironment(paths, env, 'long'),
      UV_CACHE_DIR: join(work, 'cache'),
      // A wheel in a folder of the user has no address to download it from.
      UV_FIND_LINKS: '',
      // PyTorch's wheels for Apple's computers require macOS 14 or newer.
      MACOSX_DEPLOYMENT_TARGET: '14.0',
    },
    signal,
  });
  if (outcome.ending !== 'succeeded') return err(installerFailure(outcome));
  const wheels = wheelsIn(await readFile(output, 'utf8'));
  await rm(output);
  return ok(wheels);
}

/** Lists the wheels that uv's pylock.toml names. If several of one release fit, it takes the smallest. */
export function wheelsIn(pylock: string): Wheel[] {
  return pylock
    .split('[[packages]]')
    .slice(1)
    .flatMap((entry) => {
      const [, name = ''] = /^name = "(.+)"$/m.exec(entry) ?? [];
      const [, version = ''] = /^version = "(.+)"$/m.exec(entry) ?? [];
      const wheels = entry.matchAll(/\{ url = "([^"]+)"(.*?)hashes = \{ sha256 = "([0-9a-f]{64})" \}/g);
      const fitting = [...wheels].flatMap(([, url = '', facts = '', sha256 = '']) => {
        const file = /\/([\w.+-]+\.whl)$/.exec(decodeURIComponent(url))?.[1];
        if (file === undefined) return [];
        const size = Number(/size = (\d+)/.exec(facts)?.[1] ?? NaN) || null;
        return [{ release: `${name}==${version}`, url, name: file, size, sha256 }];
      });
      return fitting.sort((a, b) => (a.size ?? 0) - (b.size ?? 0)).slice(0, 1);
    });
}

async function fetchWheels(packing: Packing, wheels: readonly Wheel[]): Promise<Result<void>> {
  const { environment, folder, work, run, env, signal, steps } = packing;
  const place = join(folder, PLACES.wheels);
  await mkdir(place, { recursive: true });
  const list = join(work, 'wheels.json');
  await writeFile(list, JSON.stringify(wheels));
  const fetched = await fetchFiles(environment, list, place, {
    run,
    env,
    signal,
    onProgress: ({ done, total, step }) => {
      steps.at({ done, line: step, ...(total !== null && { total }) });
    },
  });
  return fetched.ok ? fetched : err({ ...fetched.error, nextStep: NEXT_STEP });
}

function notPublished({ name }: Wheel): AppError {
  return appError('python_broken', `${name} is not the file that was published.`, { nextStep: NEXT_STEP });
}

/** Deletes wheels that an earlier packing, such as one of another version, left in the same folder. */
async function removeOtherWheels(folder: string, wheels: readonly Wheel[]): Promise<void> {
  const names = new Set(wheels.map(({ name }) => name));
  for (const name of await readdir(join(folder, PLACES.wheels))) {
    if (!names.has(name)) await rm(join(folder, PLACES.wheels, name), { recursive: true });
  }
}
