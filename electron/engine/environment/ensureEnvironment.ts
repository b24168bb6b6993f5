/** Makes sure that there is a Python environment that can compute: checks, creates, installs, repairs. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appError, asAppError, type AppError } from '../../contract/errors.ts';
import { err, type Result } from '../../contract/result.ts';
import { buildEnvironment } from './install/buildEnvironment.ts';
import { checkEnvironment } from './checkEnvironment.ts';
import type { EnvironmentRequest, EnvironmentState } from './environmentState.ts';
import type { PythonEnvironment } from './pythonLaunch.ts';
import { acquireFileLock, type FileLock } from '../processes/fileLock.ts';
import { runCommand, type CommandRunner } from './runCommand.ts';

/** Quick where all is in place: one start of Python, which imports nothing large. */
export async function ensureEnvironment(
  request: EnvironmentRequest,
  run: CommandRunner = runCommand,
): Promise<Result<PythonEnvironment>> {
  const enter = (state: EnvironmentState): void => request.onState?.(state);
  enter({ state: 'checking' });
  const result = await settle(request, run, enter).catch((reason: unknown) =>
    err(describeFailure(reason, request)),
  );
  enter(result.ok ? { state: 'ready', environment: result.value } : { state: 'failed', error: result.error });
  return result;
}

async function settle(
  request: EnvironmentRequest,
  run: CommandRunner,
  enter: (state: EnvironmentState) => void,
): Promise<Result<PythonEnvironment>> {
  if (request.interpreter !== undefined || (request.repair !== true && request.gpu === undefined)) {
    const found = await checkEnvironment(request, false, run);
    if (found.ok || request.interpreter !== undefined) return found;
  }
  const lock = await acquireInstallLock(request, enter);
  try {
    if (lock.waited) {
      const made = await checkEnvironment(request, false, run);
      if (made.ok) return made;
    }
    return await buildEnvironment({ request, run, enter });
  } finally {
    lock.release();
  }
}

/** One process at a time installs into an environment; the others wait for it. */
async function acquireInstallLock(
  { paths, signal }: EnvironmentRequest,
  enter: (state: EnvironmentState) => void,
): Promise<FileLock> {
  const path = `${paths.environmentFolder}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const started = Date.now();
  const onHeld = () => enter({ state: 'waiting', seconds: Math.round((Date.now() - started) / 1000) });
  return acquireFileLock(path, { onHeld, retryMs: 500, signal });
}

function describeFailure(reason: unknown, request: EnvironmentRequest): AppError {
  if (request.signal?.aborted) {
    return appError('python_broken', 'Setting up the Python environment was interrupted.', {
      nextStep: 'Start again: it goes on where it stopped.',
    });
  }
  const code = reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined;
  const folder = request.paths.environmentFolder;
  if (code === 'ENOSPC') return appError('disk_full', `There is no room for ${folder}.`);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return appError('folder_unwritable', `The Python environment cannot be written to ${folder}.`, {
      nextStep: 'Choose a data folder that you may write to under Settings, then start again.',
    });
  }
  return asAppError(reason);
}
