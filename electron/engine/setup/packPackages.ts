/** The Python packages of a folder: which releases the other computer gets, and their wheels. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { message } from '../../contract/messages.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { InstallProgress } from '../environment/environmentState.ts';
import type { TorchBuild, TorchChoice } from '../environment/install/choosePyTorch.ts';
import type { DownloadSizes } from '../environment/install/downloadSizes.ts';
import { installFailure, isNetworkError } from '../environment/install/installFailure.ts';
import { entriesOf, lockEntry, lockFor, torchRequirement } from '../environment/install/lockFile.ts';
import { uvEnvironment } from '../environment/install/uv.ts';
import { MANAGED_PYTHON } from '../environment/machine/supportedPython.ts';
import { lockFile } from '../environment/requirements.ts';
import { hashFile } from '../files/hashFile.ts';
import { PLACES } from './offlineFolder.ts';
import type { Packing } from './packing.ts';
import type { CountedSteps } from './countedSteps.ts';
import { TARGETS } from './targets.ts';

/** What a lock file names at the beginnings of its entries, such as numpy==2.4.6. */
const RELEASES = /^[^\s#]+==\S+/gm;

/** The wheels, and the lock file of a PyTorch that the program's own does not name. Answers with the build that it came to. */
export async function packPackages(
  packing: Packing,
  torch: Pick<TorchChoice, 'build' | 'index'>,
  sizes: DownloadSizes,
): Promise<Result<TorchBuild>> {
  const { folder, paths, steps, download, platform } = packing;
  const wheels = join(folder, PLACES.wheels);
  await mkdir(wheels, { recursive: true });
  steps.begin(message('step.get_packages'), sizes.packages);
  const releases = await releasesFor(packing, ['--no-deps', lockFile('run', paths)]);
  if (!releases.ok) return releases;
  const ordinary = await lockFor(lockFile('run', paths), new Set(releases.value.match(RELEASES)));
  const get = async (lock: string, ...more: string[]): Promise<Result<void>> => {
    const file = join(packing.work, 'get.lock');
    await writeFile(file, lock);
    return download(
      ['--no-deps', '--require-hashes', ...wheelArguments(packing), '--dest', wheels, ...more, '-r', file],
      progressOf(steps),
    );
  };
  const others = await get(ordinary.others);
  if (!others.ok) return others;

  steps.begin(message('step.get_pytorch', { build: torch.build }), sizes.torch);
  const special =
    torch.index === null ? null : await specialTorch(packing, torch.build, torch.index, ordinary.others, get);
  const outOfReach = special !== null && !special.ok && isNetworkError(special.error);
  // The ordinary build computes on processors too: it is only larger.
  const instead = outOfReach && torch.build === 'cpu' && platform.startsWith('linux');
  if (special !== null && !instead) {
    if (!special.ok) return special;
    await writeFile(join(folder, PLACES.torchLock), special.value);
    await removeOtherWheels(packing, ordinary.others + special.value);
    return ok(torch.build);
  }
  const fetched = await get(ordinary.torch);
  if (!fetched.ok) return fetched;
  await rm(join(folder, PLACES.torchLock), { force: true });
  await removeOtherWheels(packing, ordinary.others + ordinary.torch);
  return ok(instead ? 'cu130' : torch.build);
}

/** A build of PyTorch's own index; answers with the lock file of what is not among the `others`, which the folder has anyway. */
async function specialTorch(
  packing: Packing,
  build: TorchBuild,
  index: string,
  others: string,
  get: (lock: string, ...more: string[]) => Promise<Result<void>>,
): Promise<Result<string>> {
  const { paths, steps, download, folder } = packing;
  const requirement = await torchRequirement(paths);
  if (build === 'cpu') {
    // It needs no libraries of its own. Its hash is that of the file which the index has.
    const wheels = join(folder, PLACES.wheels);
    const fetched = await download(
      [
        '--no-deps',
        ...wheelArguments(packing),
        '--dest',
        wheels,
        '--retries',
        '1',
        '--timeout',
        '15',
        '--index-url',
        index,
        requirement,
      ],
      progressOf(steps),
    );
    if (!fetched.ok) return fetched;
    const file =
      (await readdir(wheels)).find((name) => name.startsWith('torch-') && name.includes('+cpu')) ?? '';
    const version = file.split('-')[1] ?? '';
    return ok(
      lockEntry(`torch==${decodeURIComponent(version)}`, [
        `--hash=sha256:${await hashFile(join(wheels, file))}`,
      ]),
    );
  }
  const wanted = join(packing.work, 'torch.txt');
  await writeFile(wanted, `${requirement}\n`);
  const compiled = await releasesFor(packing, [
    '--generate-hashes',
    '--torch-backend',
    build,
    '--constraints',
    lockFile('run', paths),
    wanted,
  ]);
  if (!compiled.ok) return compiled;
  const packed = new Set<string>(others.match(RELEASES));
  const lock = entriesOf(compiled.value)
    .filter((entry) => !packed.has(/^\S+/.exec(entry)?.[0] ?? ''))
    .join('');
  const fetched = await get(lock, '--extra-index-url', index);
  return fetched.ok ? ok(lock) : fetched;
}

/** `uv pip compile` for the other computer: what it gets, in which releases. */
async function releasesFor(packing: Packing, args: readonly string[]): Promise<Result<string>> {
  const { run, uv, paths, env, work, signal, platform, systemPython } = packing;
  const output = join(work, 'compiled.txt');
  const outcome = await run({
    file: uv,
    args: [
      'pip',
      'compile',
      '--quiet',
      '--no-header',
      '--no-annotate',
      '--only-binary=:all:',
      '--python-platform',
      TARGETS[platform].uvPlatform,
      '--python-version',
      systemPython ?? MANAGED_PYTHON,
      '--output-file',
      output,
      ...args,
    ],
    // PyTorch's wheels for Apple's computers are for macOS 14 and newer.
    env: {
      ...uvEnvironment(paths, env, 'long'),
      UV_CACHE_DIR: join(work, 'cache'),
      MACOSX_DEPLOYMENT_TARGET: '14.0',
    },
    signal,
  });
  if (outcome.ending !== 'succeeded') return err(installFailure(outcome));
  const text = await readFile(output, 'utf8');
  await rm(output);
  return ok(text);
}

function wheelArguments({ platform, systemPython }: Packing): string[] {
  return [
    '--only-binary=:all:',
    '--implementation',
    'cp',
    '--python-version',
    systemPython ?? MANAGED_PYTHON,
    ...TARGETS[platform].pipPlatforms.flatMap((name) => ['--platform', name]),
  ];
}

function progressOf(steps: CountedSteps): (progress: InstallProgress) => void {
  return ({ bytesDone, line }) => {
    steps.at(bytesDone, line);
  };
}

/** Takes away wheels that are not named, such as of an earlier version. */
async function removeOtherWheels({ folder, signal }: Packing, lock: string): Promise<void> {
  const wheels = join(folder, PLACES.wheels);
  for (const name of await readdir(wheels)) {
    const hash = await hashFile(join(wheels, name), undefined, signal);
    if (!lock.includes(`sha256:${hash}`)) await rm(join(wheels, name));
  }
}
