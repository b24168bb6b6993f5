/** What is installed into an environment, one step after the other. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { message, type Message } from '../../../contract/messages.ts';
import { ok, type Result } from '../../../contract/result.ts';
import type { Plan } from './buildPlan.ts';
import { downloadSizes } from './downloadSizes.ts';
import type { InstallProgress } from '../environmentState.ts';
import { isNetworkError } from './installFailure.ts';
import { lockWithoutTorch, torchRequirement } from './lockFile.ts';
import { ownInterpreter } from '../ownEnvironment.ts';
import { pipInstall } from './pipInstall.ts';
import { lockFile, requirementsFile, type RequirementSet } from '../requirements.ts';
import { uvEnvironment, type Patience } from './uv.ts';
import { uvInstall } from './uvInstall.ts';

export interface InstallStep {
  readonly title: Message;
  /** What will be fetched, where that is known before it begins. */
  readonly bytesAhead: number | null;
  readonly install: (onProgress: (progress: InstallProgress) => void) => Promise<Result<void>>;
}

/** Old pips can't say how far a download is. */
const INSTALLER = 'pip==26.3';
/** The first step shows whether there is a network; it isn't waited for as long as a slow download is. */
const SHORT_PATIENCE = ['--retries', '1', '--timeout', '15'];

const PACKAGES = message('step.packages');
const TEST_TOOLS = message('step.test_tools');
const RAY = message('step.ray');
const EVERYTHING = message('step.pytorch_packages');

export async function pipSteps(plan: Plan): Promise<InstallStep[]> {
  const { request, run, torch } = plan;
  const { paths } = request;
  const pip = (title: Message, bytesAhead: number | null, args: readonly string[]): InstallStep => ({
    title,
    bytesAhead,
    install: (onProgress) =>
      pipInstall(run, {
        interpreter: ownInterpreter(paths.environmentFolder),
        arguments: args,
        reportsProgress: !args.includes(INSTALLER),
        env: request.env ?? process.env,
        signal: request.signal,
        onProgress: (progress) => onProgress({ ...progress, bytesTotal: bytesAhead }),
      }),
  });
  const sizes = await downloadSizes(paths, plan.machine, torch);
  const ordinary = pip(torch.index === null ? EVERYTHING : PACKAGES, sizes.packages, [
    '-r',
    requirementsFile('run', paths),
  ]);
  const special =
    torch.index !== null &&
    pip(message('step.pytorch_build', { build: torch.build }), sizes.torch, [
      ...SHORT_PATIENCE,
      '--no-deps',
      '--index-url',
      torch.index,
      await torchRequirement(paths),
    ]);
  return [
    pip(message('step.installer'), null, [...SHORT_PATIENCE, INSTALLER]),
    // Where that fails, the step that follows takes the ordinary build by itself.
    ...(special ? [orElse(plan, special, null)] : []),
    ordinary,
    ...(request.requirements === 'test'
      ? [pip(TEST_TOOLS, null, ['-r', requirementsFile('test', paths)])]
      : []),
    ...(request.withRay === true ? [pip(RAY, null, ['-r', requirementsFile('ray', paths)])] : []),
  ];
}

export async function uvSteps(plan: Plan, uv: string): Promise<InstallStep[]> {
  const { request, run, torch } = plan;
  const { paths } = request;
  const step = (
    title: Message,
    bytesAhead: number | null,
    patience: Patience,
    args: readonly string[],
  ): InstallStep => ({
    title,
    bytesAhead,
    install: (onProgress) =>
      uvInstall(run, {
        uv,
        interpreter: ownInterpreter(paths.environmentFolder),
        arguments: args,
        env: uvEnvironment(paths, request.env ?? process.env, patience, request.offline),
        bytesAhead,
        signal: request.signal,
        onProgress,
      }),
  });
  const hashed = (file: string): string[] => ['--require-hashes', '-r', file];
  if (request.offline) {
    const { wheels, torchLock } = request.offline;
    const local = ['--offline', '--no-index', '--find-links', wheels];
    const locks =
      torchLock === null
        ? hashed(lockFile('run', paths))
        : [...hashed(await withoutTorch(plan, 'run')), '-r', torchLock];
    return [step(EVERYTHING, null, 'long', [...local, ...locks])];
  }
  const sizes = await downloadSizes(paths, plan.machine, torch);
  const others = await withoutTorch(plan, 'run');
  const whole = step(message('step.pytorch'), sizes.torch, 'long', hashed(lockFile('run', paths)));
  const pytorch =
    torch.index === null
      ? whole
      : orElse(
          plan,
          // PyTorch's own index is known to uv. What else the build needs is pinned where the lock file names it.
          step(message('step.pytorch_build', { build: torch.build }), sizes.torch, 'long', [
            '--torch-backend',
            torch.build,
            '--constraints',
            others,
            await torchRequirement(paths),
          ]),
          whole,
        );
  return [
    step(PACKAGES, sizes.packages, 'short', hashed(others)),
    pytorch,
    ...(request.requirements === 'test'
      ? [step(TEST_TOOLS, null, 'long', hashed(await withoutTorch(plan, 'test')))]
      : []),
    ...(request.withRay === true ? [step(RAY, null, 'long', hashed(await withoutTorch(plan, 'ray')))] : []),
  ];
}

/** The lock file without PyTorch, written beside the environment's own files. */
async function withoutTorch({ request: { paths } }: Plan, set: RequirementSet): Promise<string> {
  const file = join(paths.environmentFolder, `virnucpro-${set}.lock`);
  await writeFile(file, await lockWithoutTorch(lockFile(set, paths)));
  return file;
}

/** Where the small build for processors is out of reach, the ordinary one computes on them too: it is only larger. `ordinary`:
 * null where a later step installs it. */
function orElse({ torch, machine }: Plan, step: InstallStep, ordinary: InstallStep | null): InstallStep {
  if (torch.build !== 'cpu' || machine.platform !== 'linux') return step;
  return {
    ...step,
    install: async (onProgress) => {
      const installed = await step.install(onProgress);
      if (installed.ok || !isNetworkError(installed.error)) return installed;
      return ordinary === null ? ok(undefined) : ordinary.install(onProgress);
    },
  };
}
