/** Checks whether the existing environment can compute. It changes nothing. */
import { join } from 'node:path';
import { z } from 'zod';
import { err, ok, type Result, failWith } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { HERE } from '../system/here.ts';
import type { AppPaths } from './appPaths.ts';
import { isTooOldPython, SUPPORTED_PYTHONS } from './machine.ts';
import { pythonLaunch, type PythonEnvironment } from './pythonLaunch.ts';
import { readStamp, requirementsHash, type RequirementSet } from './requirements.ts';
import { runCommand, type CommandRunner } from './runCommand.ts';

export interface EnvironmentCheck {
  readonly paths: AppPaths;
  /** From `--python`, VIRNUCPRO_PYTHON or the setting: used unchanged, and nothing is installed into it. */
  readonly interpreter?: string | undefined;
  /** `test` adds what the tests and linters need. */
  readonly requirements?: 'run' | 'test' | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/**
 * `thorough` imports every package, which takes seconds; otherwise only the presence and versions of the
 * packages are checked.
 */
export async function checkEnvironment(
  request: EnvironmentCheck,
  thorough: boolean,
  run: CommandRunner = runCommand,
): Promise<Result<PythonEnvironment>> {
  const { paths, interpreter } = request;
  const inspected = await inspectInterpreter(run, request, thorough);
  if (interpreter !== undefined) {
    if (inspected.ok) return inspected;
    const install = `${interpreter} -m pip install -r ${join(paths.pythonBackend, 'requirements.txt')}`;
    return err({
      ...inspected.error,
      nextStep: `Install what is missing ("${install}"), or choose another interpreter under Settings or with --python.`,
    });
  }
  if (!inspected.ok) return inspected;
  const stamp = await readStamp(paths.environmentFolder);
  if (stamp === undefined) return broken(message('python.unfinished'));
  const wanted: RequirementSet[] = ['run'];
  if (request.requirements === 'test') wanted.push('test');
  for (const set of wanted) {
    if (stamp.hashes[set] !== (await requirementsHash(set, paths))) return broken(message('python.outdated'));
  }
  const changed = Object.entries(stamp.packages).filter(
    ([name, version]) => inspected.value.packages[name] !== version,
  );
  if (changed.length === 0) return inspected;
  return broken(message('python.changed', { names: changed.map(([name]) => name).join(', ') }));
}

const reportSchema = z.object({
  executable: z.string().min(1),
  python_version: z.string(),
  packages: z.record(z.string(), z.string()),
  problems: z.record(z.string(), z.string()),
});

/** The first import of a large package from a slow or network disk can take minutes. */
const THOROUGH_TIMEOUT_MS = 300_000;
const QUICK_TIMEOUT_MS = 60_000;

/** Asks an interpreter whether it has the packages that computing needs. */
export async function inspectInterpreter(
  run: CommandRunner,
  request: EnvironmentCheck,
  thorough: boolean,
): Promise<Result<PythonEnvironment>> {
  const own = request.interpreter === undefined;
  const interpreter = request.interpreter ?? HERE.interpreterIn(request.paths.environmentFolder);
  const source = request.paths.pythonSource;
  const launch = pythonLaunch(
    { interpreter, own, source, pythonVersion: '', packages: {} },
    'virnucpro_backend.environment_check',
    thorough ? ['--import'] : [],
    {},
    request.env ?? process.env,
  );
  const timeoutMs = thorough ? THOROUGH_TIMEOUT_MS : QUICK_TIMEOUT_MS;
  const outcome = await run({ ...launch, timeoutMs, signal: request.signal });
  if (outcome.ending !== 'succeeded') {
    const cause =
      outcome.ending === 'not_started'
        ? message('python.not_started', { interpreter })
        : message('python.no_backend', { interpreter });
    return broken(cause, `${outcome.summary}\n${outcome.stderr}`);
  }
  const report = parseJson(reportSchema, outcome.stdout);
  if (report === undefined) return broken(message('python.unreadable', { interpreter }), outcome.stdout);
  const { executable, python_version: version, packages } = report;
  if (isTooOldPython(version))
    return broken(message('python.too_old', { interpreter, version, needed: SUPPORTED_PYTHONS }));
  const problems = Object.entries(report.problems).map(([name, problem]) => `${name} ${problem}`);
  if (problems.length > 0)
    return broken(message('python.problems', { interpreter, problems: problems.join('; ') }));
  return ok({ interpreter: executable, own, source, pythonVersion: version, packages });
}

function broken(cause: Message, detail = ''): Result<never> {
  return failWith('python_broken', cause, detail ? { detail } : {});
}
