/** An empty environment in place of whatever environment there is: with a Python that is fetched, or one of this computer. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { appError, type AppError } from '../../../contract/errors.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import { findBasePython, type BasePython } from '../machine/basePython.ts';
import type { Plan } from './buildPlan.ts';
import { installFailure, isNetworkError } from './installFailure.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import type { Command, CommandOutcome } from '../runCommand.ts';
import { MANAGED_PYTHON } from '../machine/supportedPython.ts';
import { uvEnvironment } from './uv.ts';

/** `stepCount`: how many steps of installing will follow. */
export async function createEnvironment(plan: Plan, stepCount: number): Promise<Result<void>> {
  const { request } = plan;
  const { environmentFolder } = request.paths;
  if (existsSync(environmentFolder) && !existsSync(join(environmentFolder, 'pyvenv.cfg'))) {
    return err(
      appError('folder_not_ours', `${environmentFolder} is in the way: it is not a Python environment.`, {
        nextStep: 'Move that folder away, then start again.',
      }),
    );
  }
  const making =
    plan.uv === undefined ? await withVenv(plan, stepCount) : await withUv(plan, plan.uv, stepCount);
  if (!making.ok) return making;
  await rm(environmentFolder, { recursive: true, force: true, maxRetries: 3 });
  const outcome = await plan.run({ ...making.value, signal: request.signal });
  return outcome.ending === 'succeeded' ? ok(undefined) : err(inWords(outcome, making.value));
}

/** The command that makes the environment. */
type Making = Pick<Command, 'file' | 'args' | 'env'>;

async function withVenv(plan: Plan, stepCount: number): Promise<Result<Making>> {
  const base = await systemPython(plan, true);
  if (!base.ok) return base;
  enterCreating(plan, stepCount, base.value);
  return ok({
    file: base.value.executable,
    args: ['-I', '-m', 'venv', plan.request.paths.environmentFolder],
    env: scrubbedEnvironment(plan.request.env ?? process.env),
  });
}

async function withUv(plan: Plan, uv: string, stepCount: number): Promise<Result<Making>> {
  const { request, run } = plan;
  const { environmentFolder } = request.paths;
  const { offline } = request;
  const env = uvEnvironment(request.paths, request.env ?? process.env, 'short', offline);
  const making = (...python: string[]): Making => ({
    file: uv,
    args: ['venv', '--no-project', ...python, environmentFolder],
    env,
  });
  if (offline?.pythonArchives === null) {
    const base = await systemPython(plan, false);
    if (!base.ok) return base;
    enterCreating(plan, stepCount, base.value);
    return ok(making('--no-managed-python', '--python', base.value.executable));
  }
  const version = offline?.python ?? MANAGED_PYTHON;
  const source = offline ? 'from the folder' : 'which is fetched (about 35 MB)';
  plan.enter({ state: 'creating', basePython: `Python ${version}, ${source}`, stepCount });
  const fetched = await run({
    file: uv,
    args: ['python', 'install', '--managed-python', version],
    env,
    signal: request.signal,
  });
  if (fetched.ending === 'succeeded') return ok(making('--managed-python', '--python', version));
  if (request.signal?.aborted) return err(installFailure(fetched));
  // The place that Pythons are fetched from is out of reach more often than the package index, which may have a mirror.
  const base = await systemPython(plan, false);
  if (base.ok) {
    enterCreating(plan, stepCount, base.value);
    return ok(making('--no-managed-python', '--python', base.value.executable));
  }
  const failure = installFailure(fetched);
  return err(isNetworkError(failure) ? failure : base.error);
}

function enterCreating({ enter }: Plan, stepCount: number, { version, executable }: BasePython): void {
  enter({ state: 'creating', basePython: `Python ${version} (${executable})`, stepCount });
}

function systemPython({ request, run, machine }: Plan, needsVenv: boolean): Promise<Result<BasePython>> {
  const env = outsideOf(request.paths.environmentFolder, request.env ?? process.env);
  return findBasePython({
    run,
    env,
    platform: machine.platform,
    needsVenv,
    only: request.offline?.python,
  });
}

function inWords(outcome: CommandOutcome, { file }: Making): AppError {
  const detail = `${outcome.summary}\n${outcome.stdout}\n${outcome.stderr}`;
  if (/No space left|os error 112/i.test(detail)) {
    return appError('disk_full', 'The disk has no room for the Python environment.', { detail });
  }
  return appError('python_broken', `No environment could be made with ${file}.`, {
    nextStep: 'Install Python with its venv module (python3-venv on Debian and Ubuntu), then start again.',
    detail,
  });
}

/** An environment can't be replaced by the Python inside it, even where the user has activated it. On Windows the variable is
 * called Path, and in a copy of the environment only that very name finds it. */
function outsideOf(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const outside = (path = ''): string =>
    path
      .split(delimiter)
      .filter((entry) => !entry.startsWith(folder))
      .join(delimiter);
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, /^path$/i.test(name) ? outside(value) : value]),
  );
}
