/** What is installed into an environment, one step after the other. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { message, type Message } from '../../../contract/messages.ts';
import type { Result } from '../../../contract/result.ts';
import type { Plan } from './buildPlan.ts';
import { downloadSizes, type DownloadSizes } from './downloadSizes.ts';
import type { InstallProgress } from '../environmentState.ts';
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
  /** What is installed instead where this can't be fetched. */
  readonly otherwise?: InstallStep;
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
        bytesAhead,
        onProgress,
      }),
  });
  const sizes = await downloadSizes(paths, plan.machine, torch);
  const all = ['-r', requirementsFile('run', paths)];
  const everything = pip(EVERYTHING, await bytesOfEverything(plan), all);
  return [
    pip(message('step.installer'), null, [...SHORT_PATIENCE, INSTALLER]),
    ...(torch.index === null
      ? [everything]
      : [
          withOrdinary(
            plan,
            pip(message('step.pytorch_build', { build: torch.build }), sizes.torch, [
              ...SHORT_PATIENCE,
              '--no-deps',
              '--index-url',
              torch.index,
              await torchRequirement(paths),
            ]),
            everything,
          ),
          pip(PACKAGES, sizes.packages, all),
        ]),
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
    /** Asked for when the step begins: files are written for some, into an environment that has to be there. */
    args: () => Promise<readonly string[]>,
  ): InstallStep => ({
    title,
    bytesAhead,
    install: async (onProgress) =>
      uvInstall(run, {
        uv,
        interpreter: ownInterpreter(paths.environmentFolder),
        arguments: await args(),
        env: uvEnvironment(paths, request.env ?? process.env, patience, request.offline),
        bytesAhead,
        signal: request.signal,
        onProgress,
      }),
  });
  const hashed = (file: string): string[] => ['--require-hashes', '-r', file];
  const allOf = (set: RequirementSet) => () => Promise.resolve(hashed(lockFile(set, paths)));
  const othersOf = (set: RequirementSet) => async () => hashed(await withoutTorch(plan, set));
  if (request.offline) {
    const { wheels, torchLock } = request.offline;
    const local = ['--offline', '--no-index', '--find-links', wheels];
    const locks =
      torchLock === null ? allOf('run') : async () => [...(await othersOf('run')()), '-r', torchLock];
    return [step(EVERYTHING, null, 'long', async () => [...local, ...(await locks())])];
  }
  const sizes = await downloadSizes(paths, plan.machine, torch);
  const ordinary = step(message('step.pytorch'), (await ordinarySizes(plan)).torch, 'long', allOf('run'));
  const pytorch =
    torch.index === null
      ? ordinary
      : withOrdinary(
          plan,
          // PyTorch's own index is known to uv. What else the build needs is pinned where the lock file names it.
          step(message('step.pytorch_build', { build: torch.build }), sizes.torch, 'long', async () => [
            '--torch-backend',
            torch.build,
            '--constraints',
            await withoutTorch(plan, 'run'),
            await torchRequirement(paths),
          ]),
          ordinary,
        );
  return [
    step(PACKAGES, sizes.packages, 'short', othersOf('run')),
    pytorch,
    ...(request.requirements === 'test' ? [step(TEST_TOOLS, null, 'long', othersOf('test'))] : []),
    ...(request.withRay === true ? [step(RAY, null, 'long', othersOf('ray'))] : []),
  ];
}

/** The lock file without PyTorch, written beside the environment's own files. */
async function withoutTorch({ request: { paths } }: Plan, set: RequirementSet): Promise<string> {
  const file = join(paths.environmentFolder, `virnucpro-${set}.lock`);
  await writeFile(file, await lockWithoutTorch(lockFile(set, paths)));
  return file;
}

/** Where the small build for processors is out of reach, the ordinary one computes on them too: it is only larger. */
function withOrdinary({ torch, machine }: Plan, step: InstallStep, ordinary: InstallStep): InstallStep {
  return torch.build === 'cpu' && machine.platform === 'linux' ? { ...step, otherwise: ordinary } : step;
}

/** Of the ordinary PyTorch, and what comes with it. */
function ordinarySizes({ request, machine, torch }: Plan): Promise<DownloadSizes> {
  return downloadSizes(request.paths, machine, { ...torch, index: null });
}

async function bytesOfEverything(plan: Plan): Promise<number | null> {
  const { packages, torch } = await ordinarySizes(plan);
  return packages === null || torch === null ? null : packages + torch;
}
