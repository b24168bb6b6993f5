/** Installs the packages into an environment with uv, one step after the other. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppError, err, ok, type Result } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { AppPaths } from '../appPaths.ts';
import type { Machine } from '../machine.ts';
import { lockFile, lockWithoutTorch, torchVersion, type RequirementSet } from '../requirements.ts';
import type { CommandRunner } from '../runCommand.ts';
import type { Advance, Steps } from '../steps.ts';
import type { TorchChoice } from './choosePyTorch.ts';
import { installerFailure, isNetworkError } from './failures.ts';
import { downloadSizes } from './setUpPlan.ts';
import { uvCache, uvEnvironment, type Patience } from './uv.ts';

export interface Installation {
  readonly uv: string;
  readonly interpreter: string;
  readonly paths: AppPaths;
  readonly env: NodeJS.ProcessEnv;
  readonly machine: Pick<Machine, 'platform' | 'arch'>;
  readonly torch: Pick<TorchChoice, 'build' | 'isOrdinary'>;
  readonly sets: readonly RequirementSet[];
  readonly signal: AbortSignal | undefined;
}

export interface InstallStep {
  readonly title: Message;
  /** Bytes to download, if known in advance. */
  readonly bytes: number | null;
  readonly patience: Patience;
  /** Arguments of `uv pip install`. */
  readonly args: readonly string[];
  /** A step to take instead if this step fails with an error that the other one avoids. */
  readonly otherwise?: { readonly mends: (error: AppError) => boolean; readonly step: InstallStep };
}

export async function installSteps(installation: Installation): Promise<InstallStep[]> {
  const { paths, torch, machine, sets } = installation;
  const whole = (set: RequirementSet): string[] => ['--require-hashes', '-r', lockFile(set, paths)];
  const withoutTorch = async (set: RequirementSet): Promise<string[]> => [
    '--require-hashes',
    '-r',
    await writeLockWithoutTorch(set, paths),
  ];
  const everything = message('step.pytorch_packages');
  const kind = `${machine.platform}-${machine.arch}`;
  const ordinary = await downloadSizes(paths, kind, { ...torch, isOrdinary: true });
  const steps: InstallStep[] = [];
  if (torch.isOrdinary) {
    steps.push({ title: everything, bytes: ordinary.all, patience: 'long', args: whole('run') });
  } else {
    const sizes = await downloadSizes(paths, kind, torch);
    const args = await withoutTorch('run');
    steps.push({ title: message('step.packages'), bytes: sizes.packages, patience: 'short', args });
    steps.push(
      await specialTorch(installation, sizes.torch, {
        title: message('step.pytorch'),
        bytes: ordinary.torch,
        patience: 'long',
        args: whole('run'),
      }),
    );
  }
  if (sets.includes('test')) {
    const args = await withoutTorch('test');
    steps.push({ title: message('step.test_tools'), bytes: null, patience: 'long', args });
  }
  return steps;
}

/**
 * Installs a build from PyTorch's own index. Its other dependencies are pinned if the lock file names them.
 */
async function specialTorch(
  { paths, env, torch, machine }: Installation,
  bytes: number | null,
  ordinary: InstallStep,
): Promise<InstallStep> {
  const title = message('step.pytorch_build', { build: torch.build });
  const pinned = `torch==${await torchVersion(paths)}`;
  const backend = ['--torch-backend', torch.build];
  const constraints = ['--constraints', await writeLockWithoutTorch('run', paths)];
  const fromIndex: InstallStep = {
    title,
    bytes,
    patience: 'long',
    args: [...backend, ...constraints, pinned],
  };
  if (torch.build !== 'cpu' || machine.platform !== 'linux') return fromIndex;
  // If that index is unreachable, the ordinary build computes on processors too: it is only larger.
  const first = { ...fromIndex, otherwise: { mends: isNetworkError, step: ordinary } };
  if (!uvEnvironment(paths, env, 'long')['UV_FIND_LINKS']) return first;
  // The user keeps wheels in a folder, which may contain this one; the build for processors needs no
  // libraries of its own.
  const args = [...backend, '--no-index', '--no-deps', pinned];
  return { ...fromIndex, args, otherwise: { mends: () => true, step: first } };
}

async function writeLockWithoutTorch(set: RequirementSet, paths: AppPaths): Promise<string> {
  const file = join(uvCache(paths), `virnucpro-${set}.lock`);
  await mkdir(uvCache(paths), { recursive: true });
  await writeFile(file, await lockWithoutTorch(set, paths));
  return file;
}

export async function installPackages(
  installation: Installation,
  plan: readonly InstallStep[],
  steps: Steps,
  run: CommandRunner,
): Promise<Result<void>> {
  for (const [index, first] of plan.entries()) {
    // One more step follows: the final check that everything works.
    const left = plan.length - index;
    steps.begin(first.title, { bytes: first.bytes, left });
    let step = first;
    let installed = await carryOut(installation, step, steps, run);
    while (!installed.ok && !installation.signal?.aborted && step.otherwise?.mends(installed.error)) {
      step = step.otherwise.step;
      steps.begin(step.title, { bytes: step.bytes, left, instead: true });
      installed = await carryOut(installation, step, steps, run);
    }
    if (!installed.ok) return installed;
  }
  return ok(undefined);
}

async function carryOut(
  { uv, interpreter, paths, env, signal }: Installation,
  { args, bytes, patience }: InstallStep,
  steps: Steps,
  run: CommandRunner,
): Promise<Result<void>> {
  const outcome = await run({
    file: uv,
    // Nothing may be written beside the packages later, and compiling PyTorch's sources would take seconds at
    // every start of a worker.
    args: ['pip', 'install', '--compile-bytecode', '--python', interpreter, ...args],
    env: uvEnvironment(paths, env, patience),
    signal,
    onLine: downloadReport(bytes, steps.at),
  });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(installerFailure(outcome));
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** uv names each large file with its size when its download starts, and again when it is complete. */
function downloadReport(
  bytesAhead: number | null,
  onAdvance: (advance: Advance) => void,
): (line: string) => void {
  const sizes = new Map<string, number>();
  const underWay = new Set<string>();
  let done = 0;
  return (line) => {
    const begun = /^Downloading (\S+) \(([\d.]+)\s?([KMG]?i?B)\)/.exec(line);
    const ended = /^(?:Downloaded|Built) (\S+)/.exec(line);
    if (begun) {
      const [, name = '', size, unit = 'B'] = begun;
      sizes.set(name, Number(size) * (UNITS[unit] ?? 1));
      underWay.add(name);
    } else if (ended?.[1] !== undefined) {
      if (underWay.delete(ended[1])) done += sizes.get(ended[1]) ?? 0;
    } else if (line.startsWith('Installed')) {
      // The remaining work is not counted in the download time.
      onAdvance({ done, total: null, line: 'Compiling what was installed' });
      return;
    } else if (!/^(Prepared|Resolved)/.test(line)) {
      return;
    }
    const announced = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const total = Math.round(Math.max(bytesAhead ?? 0, announced));
    onAdvance({
      done,
      total: total > 0 ? total : null,
      line: underWay.size > 0 ? `Downloading ${[...underWay].join(', ')}` : line,
    });
  };
}
