/** Makes the Python environment, or mends the one that is there. The caller holds the lock. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { findBasePython } from './basePython.ts';
import type { EnvironmentRequest, EnvironmentState } from './environmentState.ts';
import { inspectInterpreter } from './inspectInterpreter.ts';
import { ownInspection, ownInterpreter } from './ownEnvironment.ts';
import { pipInstall } from './pipInstall.ts';
import { scrubbedEnvironment, type PythonEnvironment } from './pythonLaunch.ts';
import { installSteps, readStamp, removeStamp, requirementsHash, writeStamp } from './requirements.ts';
import type { CommandRunner } from './runCommand.ts';

export interface Build {
  readonly request: EnvironmentRequest;
  readonly run: CommandRunner;
  readonly enter: (state: EnvironmentState) => void;
}

export async function buildEnvironment(build: Build): Promise<Result<PythonEnvironment>> {
  const { request } = build;
  const { environmentFolder } = request.paths;
  const before = await readStamp(environmentFolder);
  await removeStamp(environmentFolder);
  // What had been installed for the tests stays installed for them.
  const set = request.requirements === 'test' || before?.hashes.test ? 'test' : 'run';
  const wanted = { ...build, request: { ...request, requirements: set } as const };
  if (request.repair !== true && (await hasWorkingPip(wanted))) {
    const installed = await install(wanted);
    if (!installed.ok) return installed;
    const verified = await verify(wanted);
    if (verified.ok || request.signal?.aborted) return verified;
    // Everything is installed and yet it doesn't work: only a new environment helps.
  }
  const created = await create(wanted);
  if (!created.ok) return created;
  const installed = await install(wanted);
  return installed.ok ? verify(wanted) : installed;
}

async function hasWorkingPip({ request, run }: Build): Promise<boolean> {
  const file = ownInterpreter(request.paths.environmentFolder);
  if (!existsSync(file)) return false;
  const env = scrubbedEnvironment(request.env ?? process.env);
  const outcome = await run({ file, args: ['-m', 'pip', '--version'], env, timeoutMs: 60_000 });
  return outcome.ending === 'succeeded';
}

async function create({ request, run, enter }: Build): Promise<Result<void>> {
  const { environmentFolder } = request.paths;
  const env = request.env ?? process.env;
  const base = await findBasePython(run, outsideOf(environmentFolder, env), process.platform);
  if (!base.ok) return base;
  enter({ state: 'creating', basePython: `Python ${base.value.version} (${base.value.executable})` });
  if (existsSync(environmentFolder) && !existsSync(join(environmentFolder, 'pyvenv.cfg'))) {
    return err(
      appError('folder_not_ours', `${environmentFolder} is in the way: it is not a Python environment.`, {
        nextStep: 'Move that folder away, then start again.',
      }),
    );
  }
  await rm(environmentFolder, { recursive: true, force: true, maxRetries: 3 });
  const outcome = await run({
    file: base.value.executable,
    args: ['-I', '-m', 'venv', environmentFolder],
    env: scrubbedEnvironment(env),
    signal: request.signal,
  });
  if (outcome.ending === 'succeeded') return ok(undefined);
  const detail = `${outcome.summary}\n${outcome.stdout}\n${outcome.stderr}`;
  if (/No space left/i.test(detail)) {
    return err(appError('disk_full', 'The disk has no room for the Python environment.', { detail }));
  }
  return err(
    appError('python_broken', `No environment could be made with ${base.value.executable}.`, {
      nextStep: 'Install Python with its venv module (python3-venv on Debian and Ubuntu), then start again.',
      detail,
    }),
  );
}

async function install({ request, run, enter }: Build): Promise<Result<void>> {
  const steps = installSteps(request.requirements ?? 'run', request.paths);
  for (const [index, { title, pipArguments }] of steps.entries()) {
    const place = { state: 'installing', step: index + 1, stepCount: steps.length, title } as const;
    enter({ ...place, line: '', fraction: null });
    const installed = await pipInstall(run, {
      interpreter: ownInterpreter(request.paths.environmentFolder),
      arguments: pipArguments,
      reportsProgress: index > 0,
      env: request.env ?? process.env,
      signal: request.signal,
      onProgress: (progress) => enter({ ...place, ...progress }),
    });
    if (!installed.ok) return installed;
  }
  return ok(undefined);
}

async function verify({ request, run, enter }: Build): Promise<Result<PythonEnvironment>> {
  enter({ state: 'verifying' });
  const verified = await inspectInterpreter(run, ownInspection(request, true));
  if (!verified.ok) return verified;
  const { paths } = request;
  await writeStamp(paths.environmentFolder, {
    hashes: {
      run: await requirementsHash('run', paths),
      test: request.requirements === 'test' ? await requirementsHash('test', paths) : null,
    },
    pythonVersion: verified.value.pythonVersion,
    packages: verified.value.packages,
  });
  return verified;
}

/** An environment can't be made anew by the Python inside it, even where the user has activated it. */
function outsideOf(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const path = (env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.startsWith(folder));
  return { ...env, PATH: path.join(delimiter) };
}
