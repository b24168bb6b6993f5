/** Makes the Python environment, or mends the one that is there. The caller holds the lock. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { err, ok, type Result } from '../../../contract/result.ts';
import type { Build, Plan } from './buildPlan.ts';
import { choosePyTorch } from './choosePyTorch.ts';
import { createEnvironment } from './createEnvironment.ts';
import type { InstallProgress } from '../environmentState.ts';
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
  await removeStamp(environmentFolder);
  // What had been installed for the tests stays installed for them.
  const wantsTest = request.requirements === 'test' || before?.hashes.test;
  const set = wantsTest && !request.offline ? 'test' : 'run';
  // Ray likewise; a folder in place of the network has none.
  const withRay = (request.withRay === true || Boolean(before?.hashes.ray)) && !request.offline;
  const plan: Plan = {
    ...build,
    request: { ...request, requirements: set, withRay },
    machine,
    torch: choosePyTorch(machine),
    uv: request.offline?.uv ?? findUv(request.paths),
  };
  if (request.repair !== true && (await canInstallInto(plan))) {
    const installed = await install(plan);
    if (!installed.ok) return installed;
    const verified = await verify(plan);
    if (verified.ok || request.signal?.aborted) return verified;
    // Everything is installed and yet it doesn't work: only a new environment helps.
  }
  const created = await createEnvironment(plan);
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

async function install(plan: Plan): Promise<Result<void>> {
  const steps: readonly InstallStep[] =
    plan.uv === undefined ? await pipSteps(plan) : await uvSteps(plan, plan.uv);
  for (const [index, step] of steps.entries()) {
    const place = {
      state: 'installing',
      step: index + 1,
      stepCount: steps.length,
      title: step.title,
    } as const;
    plan.enter({ ...place, line: '', fraction: null, bytesDone: 0, bytesTotal: step.bytesAhead });
    const installed = await step.install((progress: InstallProgress) =>
      plan.enter({ ...place, ...progress }),
    );
    if (!installed.ok) return installed;
  }
  return ok(undefined);
}

async function verify({ request, run, enter, uv, torch }: Plan): Promise<Result<PythonEnvironment>> {
  enter({ state: 'verifying' });
  const verified = await inspectInterpreter(run, ownInspection(request, true));
  if (!verified.ok) return verified;
  const { paths } = request;
  const installer = uv === undefined ? 'pip' : 'uv';
  await writeStamp(paths.environmentFolder, {
    installer,
    torchBuild: request.offline?.torchBuild ?? torch.build,
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
