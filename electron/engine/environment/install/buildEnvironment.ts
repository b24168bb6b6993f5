/** Makes the Python environment, or mends the one that is there. The caller holds the lock. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { appError, type AppError } from '../../../contract/errors.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import type { Build, Plan } from './buildPlan.ts';
import { choosePyTorchFor, otherBuild, servesAs } from './choosePyTorch.ts';
import { createEnvironment } from './createEnvironment.ts';
import type { InstallProgress } from '../environmentState.ts';
import { isNetworkError } from './installFailure.ts';
import { inspectInterpreter } from '../inspectInterpreter.ts';
import { pipSteps, uvSteps, type InstallStep } from './installSteps.ts';
import { lookAtMachine } from '../machine/machine.ts';
import { ownInspection, ownInterpreter } from '../ownEnvironment.ts';
import { scrubbedEnvironment, type PythonEnvironment } from '../pythonLaunch.ts';
import { readStamp, removeStamp, requirementsHash, writeStamp } from '../requirements.ts';
import { unsupportedMachine } from '../machine/unsupportedMachine.ts';
import { findUv, uvCache } from './uv.ts';

export async function buildEnvironment(build: Build): Promise<Result<PythonEnvironment>> {
  const { request, run } = build;
  const env = request.env ?? process.env;
  const machine = request.machine ?? (await lookAtMachine(run, env));
  const unsupported = unsupportedMachine(machine);
  if (unsupported) return err(unsupported);

  const { environmentFolder } = request.paths;
  const before = await readStamp(environmentFolder);
  // What had been installed for the tests stays installed for them.
  const wantsTest = request.requirements === 'test' || before?.hashes.test;
  const set = wantsTest && !request.offline ? 'test' : 'run';
  // Ray likewise; a folder in place of the network has none.
  const withRay = (request.withRay === true || Boolean(before?.hashes.ray)) && !request.offline;
  // And so is the PyTorch for other computers, until another is asked for.
  const { gpu: asked } = request;
  const gpu = asked === undefined ? (before?.gpu ?? null) : asked === 'here' ? null : asked;
  const torch = choosePyTorchFor(machine, gpu);
  if (torch === null) return err(noSuchBuild());
  await removeStamp(environmentFolder);
  const plan: Plan = {
    ...build,
    request: { ...request, requirements: set, withRay },
    machine,
    torch,
    gpu,
    uv: request.offline?.uv ?? findUv(request.paths),
  };
  if (request.repair !== true && (await canInstallInto(plan))) {
    const installed = await install(plan);
    if (!installed.ok) return installed;
    const verified = await verify(plan);
    // Installers take any build of a PyTorch that is there for the right one.
    if ((verified.ok && isServed(plan, verified.value)) || request.signal?.aborted) return verified;
    // Everything is installed and yet it doesn't work: only a new environment helps.
  }
  const created = await createEnvironment(plan, (await installSteps(plan)).length);
  if (!created.ok) return created;
  const installed = await install(plan);
  return installed.ok ? verify(plan) : installed;
}

async function canInstallInto({ request, run, uv }: Plan): Promise<boolean> {
  const file = ownInterpreter(request.paths.environmentFolder);
  if (!existsSync(file)) return false;
  const env = scrubbedEnvironment(request.env ?? process.env);
  const args = uv === undefined ? ['-m', 'pip', '--version'] : ['-I', '-c', 'import sys'];
  return (await run({ file, args, env, timeoutMs: 60_000 })).ending === 'succeeded';
}

function isServed({ request, torch, machine }: Plan, { packages }: PythonEnvironment): boolean {
  if (request.offline) return true;
  const other = otherBuild(packages['torch'], torch, machine);
  return other === null || servesAs(other, torch);
}

function noSuchBuild(): AppError {
  return appError('usage', 'There is no PyTorch for such GPUs and this kind of computer.', {
    nextStep: 'Choose another kind of GPU with --gpu.',
  });
}

function installSteps(plan: Plan): Promise<readonly InstallStep[]> {
  return plan.uv === undefined ? pipSteps(plan) : uvSteps(plan, plan.uv);
}

async function install(plan: Plan): Promise<Result<void>> {
  const steps = await installSteps(plan);
  const carryOut = (step: InstallStep, index: number): Promise<Result<void>> => {
    const place = {
      state: 'installing',
      step: index + 1,
      stepCount: steps.length,
      title: step.title,
    } as const;
    plan.enter({ ...place, line: '', fraction: null, bytesDone: 0, bytesTotal: step.bytesAhead });
    return step.install((progress: InstallProgress) => plan.enter({ ...place, ...progress }));
  };
  for (const [index, step] of steps.entries()) {
    let installed = await carryOut(step, index);
    if (!installed.ok && step.otherwise && isNetworkError(installed.error))
      installed = await carryOut(step.otherwise, index);
    if (!installed.ok) return installed;
  }
  return ok(undefined);
}

async function verify({
  request,
  run,
  enter,
  uv,
  torch,
  gpu,
  machine,
}: Plan): Promise<Result<PythonEnvironment>> {
  enter({ state: 'verifying' });
  const verified = await inspectInterpreter(run, ownInspection(request, true));
  if (!verified.ok) return verified;
  const { paths } = request;
  const installer = uv === undefined ? 'pip' : 'uv';
  await writeStamp(paths.environmentFolder, {
    installer,
    torchBuild: otherBuild(verified.value.packages['torch'], torch, machine) ?? torch.build,
    gpu,
    hashes: {
      run: await requirementsHash('run', paths, installer),
      test: request.requirements === 'test' ? await requirementsHash('test', paths, installer) : null,
      ray: request.withRay === true ? await requirementsHash('ray', paths, installer) : null,
    },
    pythonVersion: verified.value.pythonVersion,
    packages: verified.value.packages,
  });
  // Its files are the environment's by now, as second names of the same data: a file that is damaged there would be
  // damaged here too, and a repair would take it again.
  await rm(uvCache(paths), { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  return verified;
}
