/** Whether the environment that is there can compute. Changes nothing. */
import { join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { err, type Result } from '../../contract/result.ts';
import type { EnvironmentRequest } from './environmentState.ts';
import { inspectInterpreter } from './inspectInterpreter.ts';
import { ownInspection } from './ownEnvironment.ts';
import type { PythonEnvironment } from './pythonLaunch.ts';
import { readStamp, requirementsHash, type RequirementSet } from './requirements.ts';
import { runCommand, type CommandRunner } from './runCommand.ts';

/** `thorough` imports every package, which takes seconds; else they only have to be found in the right versions. */
export async function checkEnvironment(
  request: EnvironmentRequest,
  thorough: boolean,
  run: CommandRunner = runCommand,
): Promise<Result<PythonEnvironment>> {
  if (request.interpreter !== undefined) {
    return checkUsersInterpreter(request, request.interpreter, thorough, run);
  }
  const inspected = await inspectInterpreter(run, ownInspection(request, thorough));
  if (!inspected.ok) return inspected;
  const stamp = await readStamp(request.paths.environmentFolder);
  if (stamp === undefined) {
    return err(appError('python_broken', message('python.unfinished')));
  }
  const isCurrent = async (set: RequirementSet) =>
    stamp.hashes[set] === (await requirementsHash(set, request.paths, stamp.installer));
  const current =
    (await isCurrent('run')) &&
    (request.requirements !== 'test' || (await isCurrent('test'))) &&
    ((request.withRay !== true && stamp.hashes.ray === null) || (await isCurrent('ray')));
  if (!current) return err(appError('python_broken', message('python.outdated')));
  const changed = Object.entries(stamp.packages).filter(
    ([name, version]) => inspected.value.packages[name] !== version,
  );
  if (changed.length === 0) return inspected;
  const names = changed.map(([name]) => name).join(', ');
  return err(appError('python_broken', message('python.changed', { names })));
}

async function checkUsersInterpreter(
  request: EnvironmentRequest,
  interpreter: string,
  thorough: boolean,
  run: CommandRunner,
): Promise<Result<PythonEnvironment>> {
  const inspected = await inspectInterpreter(run, {
    interpreter,
    own: false,
    source: request.paths.pythonSource,
    env: request.env ?? process.env,
    thorough,
    signal: request.signal,
  });
  if (inspected.ok) return inspected;
  const requirements = join(request.paths.pythonBackend, 'requirements.txt');
  return err({
    ...inspected.error,
    nextStep: `Install what is missing ("${interpreter} -m pip install -r ${requirements}"), or choose another interpreter under Settings or with --python.`,
  });
}
