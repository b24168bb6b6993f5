/** Asks an interpreter whether it has what computing needs. */
import { z } from 'zod';
import { appError } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { pythonLaunch, type PythonEnvironment } from './pythonLaunch.ts';
import type { CommandRunner } from './runCommand.ts';
import { isTooOldPython, pythonVersion, SUPPORTED_PYTHONS } from './machine/supportedPython.ts';

const reportSchema = z.object({
  executable: z.string().min(1),
  python_version: z.string(),
  packages: z.record(z.string(), z.string()),
  problems: z.record(z.string(), z.string()),
});

export interface Inspection {
  readonly interpreter: string;
  readonly own: boolean;
  readonly source: string;
  readonly env: NodeJS.ProcessEnv;
  /** Imports every package, which takes seconds; else it is enough that they can be found. */
  readonly thorough: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The first import of a large package from a cold or network disk can take minutes. */
const THOROUGH_TIMEOUT_MS = 300_000;
const QUICK_TIMEOUT_MS = 60_000;

export async function inspectInterpreter(
  run: CommandRunner,
  inspection: Inspection,
): Promise<Result<PythonEnvironment>> {
  const { interpreter, own, source, thorough } = inspection;
  const launch = pythonLaunch(
    { interpreter, own, source, pythonVersion: '', packages: {} },
    'virnucpro_backend.environment_check',
    thorough ? ['--import'] : [],
    {},
    inspection.env,
  );
  const outcome = await run({
    ...launch,
    timeoutMs: thorough ? THOROUGH_TIMEOUT_MS : QUICK_TIMEOUT_MS,
    signal: inspection.signal,
  });
  if (outcome.ending !== 'succeeded') {
    const cause =
      outcome.ending === 'not_started'
        ? message('python.not_started', { interpreter })
        : message('python.no_backend', { interpreter });
    return err(broken(cause, `${outcome.summary}\n${outcome.stderr}`));
  }
  const report = parseJson(reportSchema, outcome.stdout);
  if (report === undefined) return err(broken(message('python.unreadable', { interpreter }), outcome.stdout));
  if (isTooOldPython(pythonVersion(report.python_version))) {
    const versions = { version: report.python_version, needed: SUPPORTED_PYTHONS };
    return err(broken(message('python.too_old', { interpreter, ...versions })));
  }
  const problems = Object.entries(report.problems).map(([name, problem]) => `${name} ${problem}`);
  if (problems.length > 0)
    return err(broken(message('python.problems', { interpreter, problems: problems.join('; ') })));
  return ok({
    interpreter: report.executable,
    own,
    source,
    pythonVersion: report.python_version,
    packages: report.packages,
  });
}

function broken(cause: Message, detail = '') {
  return appError('python_broken', cause, detail ? { detail } : {});
}
