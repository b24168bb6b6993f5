/** Ensures that there is a Python environment that can compute: checks, creates, installs, repairs. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appError, err, ok, type Result, failWith } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { GpuKind } from '../../contract/rpc/computer.ts';
import { acquireFileLock, type FileLock } from '../system/fileLock.ts';
import { HERE } from '../system/here.ts';
import { checkEnvironment, inspectInterpreter, type EnvironmentCheck } from './checkEnvironment.ts';
import { choosePyTorchFor, otherBuild, servesAs } from './install/choosePyTorch.ts';
import { describeFailure, installerFailure, isNetworkError } from './install/failures.ts';
import {
  installPackages,
  installSteps,
  type Installation,
  type InstallStep,
} from './install/installPackages.ts';
import { fetchOwnUv, findUv, uvCache, uvEnvironment } from './install/uv.ts';
import {
  lookAtMachine,
  unsupportedMachine,
  type Machine,
  MANAGED_PYTHON,
  SUPPORTED_PYTHONS,
  SUPPORTED_RANGE,
} from './machine.ts';
import { scrubbedEnvironment, type PythonEnvironment } from './pythonLaunch.ts';
import { readStamp, removeStamp, requirementsHash, writeStamp, type RequirementSet } from './requirements.ts';
import { runCommand, type CommandRunner } from './runCommand.ts';
import { Steps } from './steps.ts';

export interface EnvironmentRequest extends EnvironmentCheck {
  /**
   * The GPUs that PyTorch is for, if the environment is for other computers too, such as a cluster's nodes;
   * kept until `here` goes back to those of this computer.
   */
  readonly gpu?: GpuKind | 'here' | undefined;
  /** Leaves what was downloaded in uv's cache. */
  readonly keepCache?: boolean;
  /** Rebuilds the environment even if it looks complete. */
  readonly repair?: boolean | undefined;
  /** The properties of this computer; detected if omitted. */
  readonly machine?: Machine;
  /** Starts no step if everything is in place already. */
  readonly steps?: Steps;
}

/** Quick if everything is in place: it starts Python once, and imports nothing large. */
export async function ensureEnvironment(
  request: EnvironmentRequest,
  run: CommandRunner = runCommand,
): Promise<Result<PythonEnvironment>> {
  const { steps = new Steps(() => undefined), signal } = request;
  return settle(request, run, steps).catch((reason: unknown) => {
    const interrupted = appError('python_broken', 'Setting up the Python environment was interrupted.', {
      nextStep: 'Start again: it goes on where it stopped.',
    });
    return err(describeFailure(reason, { folder: request.paths.environmentFolder, signal, interrupted }));
  });
}

async function settle(
  request: EnvironmentRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<PythonEnvironment>> {
  if (request.interpreter !== undefined || (request.repair !== true && request.gpu === undefined)) {
    const found = await checkEnvironment(request, false, run);
    if (found.ok || request.interpreter !== undefined) return found;
  }
  const lock = await acquireInstallLock(request, steps);
  try {
    if (lock.waited) {
      const made = await checkEnvironment(request, false, run);
      if (made.ok) return made;
    }
    return await build(request, run, steps);
  } finally {
    lock.release();
  }
}

/** Lets one process at a time install into an environment; the others wait for it. */
async function acquireInstallLock({ paths, signal }: EnvironmentRequest, steps: Steps): Promise<FileLock> {
  const path = `${paths.environmentFolder}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  let isWaiting = false;
  const onHeld = (): void => {
    if (!isWaiting) steps.begin(message('step.waiting'));
    isWaiting = true;
  };
  return acquireFileLock(path, { onHeld, retryMs: 500, signal });
}

/** Everything determined before the installation starts. */
interface Build extends Installation {
  readonly machine: Machine;
  readonly run: CommandRunner;
  readonly steps: Steps;
  /** The GPUs of other computers that the environment is for; null for this computer. */
  readonly gpu: GpuKind | null;
  readonly keepCache: boolean;
}

async function build(
  request: EnvironmentRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<PythonEnvironment>> {
  const { paths, signal, env = process.env, keepCache = false } = request;
  const machine = request.machine ?? (await lookAtMachine(run, env));
  const unsupported = unsupportedMachine(machine);
  if (unsupported) return err(unsupported);
  const before = await readStamp(paths.environmentFolder);
  // The choice for other computers is kept until another one is made, and so are the packages for tests.
  const { gpu: asked } = request;
  const gpu = asked === undefined ? (before?.gpu ?? null) : asked === 'here' ? null : asked;
  const torch = choosePyTorchFor(machine, gpu);
  if (torch === null) {
    return failWith('usage', 'There is no PyTorch for such GPUs and this kind of computer.', {
      nextStep: 'Choose another kind of GPU with --gpu.',
    });
  }
  const sets: RequirementSet[] = ['run'];
  // An offline folder contains only what computing needs.
  const offline = Boolean(env['UV_OFFLINE']);
  if (!offline && (request.requirements === 'test' || before?.hashes.test)) sets.push('test');
  await removeStamp(paths.environmentFolder);
  const uv = await provideUv(request, run, steps);
  if (!uv.ok) return uv;
  const interpreter = HERE.interpreterIn(paths.environmentFolder);
  const all: Build = {
    ...{ uv: uv.value, interpreter, paths, env, machine, torch, sets, signal, run, steps, gpu, keepCache },
  };
  const plan = await installSteps(all);
  if (request.repair !== true && (await canInstallInto(all))) {
    const installed = await installPackages(all, plan, steps, run);
    if (!installed.ok) return installed;
    const verified = await verify(all);
    // uv accepts any installed build of PyTorch as the right one.
    if ((verified.ok && isServed(all, verified.value)) || signal?.aborted) return verified;
    // Everything is installed but does not work: only a new environment helps.
  }
  const created = await createEnvironment(all, plan);
  if (!created.ok) return created;
  const installed = await installPackages(all, plan, steps, run);
  return installed.ok ? verify(all) : installed;
}

async function provideUv(
  { paths, env = process.env, signal }: EnvironmentRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<string>> {
  const there = findUv(paths);
  if (there !== undefined) return ok(there);
  steps.begin(message('step.get_installer'), { left: 4 });
  return fetchOwnUv(paths, { run, env, signal });
}

async function canInstallInto({ interpreter: file, env, run }: Build): Promise<boolean> {
  if (!existsSync(file)) return false;
  const args = ['-I', '-c', 'import sys'];
  return (await run({ file, args, env: scrubbedEnvironment(env), timeoutMs: 60_000 })).ending === 'succeeded';
}

function isServed({ torch, machine }: Build, { packages }: PythonEnvironment): boolean {
  const other = otherBuild(packages['torch'], torch, machine);
  return other === null || servesAs(other, torch);
}

/** Creates an empty environment and replaces any existing one. */
async function createEnvironment(all: Build, plan: readonly InstallStep[]): Promise<Result<void>> {
  const { uv, paths, run, signal } = all;
  const { environmentFolder } = paths;
  if (existsSync(environmentFolder) && !existsSync(join(environmentFolder, 'pyvenv.cfg'))) {
    return failWith(
      'folder_not_ours',
      `${environmentFolder} is in the way: it is not a Python environment.`,
      {
        nextStep: 'Move that folder away, then start again.',
      },
    );
  }
  const python = await choosePython(all, plan.length + 1);
  if (!python.ok) return python;
  await rm(environmentFolder, { recursive: true, force: true, maxRetries: 3 });
  const args = ['venv', '--no-project', ...python.value, environmentFolder];
  const outcome = await run({ file: uv, args, env: uvEnvironment(all.paths, all.env, 'short'), signal });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(installerFailure(outcome));
}

/**
 * Chooses the Python for a new environment, as arguments of `uv venv`: one that uv downloads, or else one of
 * this computer.
 */
async function choosePython(all: Build, left: number): Promise<Result<readonly string[]>> {
  const { uv, env, run, steps, signal } = all;
  const title = message('step.python');
  const asked = env['UV_PYTHON'];
  if (asked) {
    steps.begin(title, { left });
    return systemPython(all, asked);
  }
  steps.begin(title, { line: `with Python ${MANAGED_PYTHON} (about 35 MB)`, left });
  const fetched = await run({
    file: uv,
    args: ['python', 'install', '--managed-python', MANAGED_PYTHON],
    env: uvEnvironment(all.paths, all.env, 'short'),
    signal,
  });
  if (fetched.ending === 'succeeded') return ok(['--managed-python', '--python', MANAGED_PYTHON]);
  const failure = installerFailure(fetched);
  if (signal?.aborted || failure.code === 'disk_full') return err(failure);
  // The server of Pythons is unreachable more often than the package index, which may have a mirror.
  const found = await systemPython(all, SUPPORTED_RANGE);
  return found.ok || !isNetworkError(failure) ? found : err(failure);
}

/** Finds a Python of this computer outside of any virtual environment. */
async function systemPython(all: Build, version: string): Promise<Result<readonly string[]>> {
  const found = await all.run({
    file: all.uv,
    args: [
      'python',
      'find',
      '--no-project',
      '--no-managed-python',
      '--no-python-downloads',
      '--system',
      version,
    ],
    env: uvEnvironment(all.paths, all.env, 'short'),
    signal: all.signal,
  });
  const executable = found.stdout.trim();
  if (found.ending === 'succeeded' && !/[\\/]WindowsApps[\\/]/i.test(executable)) {
    all.steps.at({ done: 0, line: `with ${executable}` });
    return ok(['--no-managed-python', '--python', executable]);
  }
  // uv caches what it learns about a Python, and finds none if the disk is full.
  const failure = installerFailure(found);
  if (failure.code === 'disk_full') return err(failure);
  const needed = version === SUPPORTED_RANGE ? SUPPORTED_PYTHONS : `Python ${version}`;
  // Windows redirects files written by a Python from the Microsoft Store: weights would be stored in another
  // folder than requested.
  const cause =
    found.ending === 'succeeded'
      ? `${needed} is needed; there is only one of the Microsoft Store, which may not write where the data belong.`
      : `${needed} is needed, and none was found.`;
  const nextStep = `Install ${needed} from python.org, then start again.`;
  return failWith('python_missing', cause, { nextStep, detail: found.stderr });
}

async function verify(all: Build): Promise<Result<PythonEnvironment>> {
  const { paths, env, run, steps, torch, gpu, machine, sets, signal, keepCache } = all;
  steps.begin(message('step.verifying'));
  const verified = await inspectInterpreter(run, { paths, env, signal }, true);
  if (!verified.ok) return verified;
  const hashOf = async (set: RequirementSet) => (sets.includes(set) ? requirementsHash(set, paths) : null);
  writeStamp(paths.environmentFolder, {
    installer: 'uv',
    torchBuild: otherBuild(verified.value.packages['torch'], torch, machine) ?? torch.build,
    gpu,
    hashes: {
      run: await requirementsHash('run', paths),
      test: await hashOf('test'),
    },
    pythonVersion: verified.value.pythonVersion,
    packages: verified.value.packages,
  });
  // Its files are hard links to those of the environment: a file damaged there would also be damaged here,
  // and a repair would use it again.
  if (!keepCache)
    await rm(uvCache(paths), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  return verified;
}
