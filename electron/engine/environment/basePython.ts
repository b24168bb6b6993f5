/** Finds a Python on this computer with which an environment can be made. */
import { z } from 'zod';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { scrubbedEnvironment } from './pythonLaunch.ts';
import type { CommandRunner } from './runCommand.ts';

export interface BasePython {
  readonly executable: string;
  readonly version: string;
}

/** The newest Python that the pinned packages were chosen for; newer ones are taken only where there is no other. */
const NEWEST_KNOWN = 13;
export const OLDEST_SUPPORTED = [3, 10] as const;

const ANSWER_TIMEOUT_MS = 20_000;
const QUESTION = [
  'import importlib.util as u, json, sys',
  'has = all(u.find_spec(m) for m in ("venv", "ensurepip"))',
  'print(json.dumps({"executable": sys.executable, "version": sys.version_info[:3], "venv": has}))',
].join('; ');

const answerSchema = z.object({
  executable: z.string().min(1),
  version: z.tuple([z.int(), z.int(), z.int()]),
  venv: z.boolean(),
});
type Answer = z.infer<typeof answerSchema>;

export async function findBasePython(
  run: CommandRunner,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<Result<BasePython>> {
  const found: Answer[] = [];
  for (const [file, ...args] of candidates(platform)) {
    const answer = await ask(run, env, file, args);
    if (answer === undefined) continue;
    if (isSupported(answer) && answer.venv && answer.version[1] <= NEWEST_KNOWN)
      return ok(basePython(answer));
    found.push(answer);
  }
  const newer = found.find((answer) => isSupported(answer) && answer.venv);
  return newer ? ok(basePython(newer)) : err(nothingFits(found, platform));
}

function candidates(platform: NodeJS.Platform): [string, ...string[]][] {
  if (platform === 'win32') return [['py', '-3'], ['python'], ['python3']];
  const versions = ['python3.13', 'python3.12', 'python3.11', 'python3.10'];
  const names = ['python3', 'python', ...versions, '/usr/bin/python3'];
  // A program started from the Finder doesn't have the folder of Homebrew in its PATH.
  if (platform === 'darwin') names.push('/opt/homebrew/bin/python3', '/usr/local/bin/python3');
  return names.map((name) => [name]);
}

async function ask(
  run: CommandRunner,
  env: NodeJS.ProcessEnv,
  file: string,
  args: readonly string[],
): Promise<Answer | undefined> {
  const outcome = await run({
    file,
    args: [...args, '-I', '-c', QUESTION],
    env: scrubbedEnvironment(env),
    timeoutMs: ANSWER_TIMEOUT_MS,
  });
  if (outcome.ending !== 'succeeded') return undefined;
  try {
    return answerSchema.safeParse(JSON.parse(outcome.stdout)).data;
  } catch {
    return undefined;
  }
}

function isSupported({ version: [major, minor] }: Answer): boolean {
  return major === OLDEST_SUPPORTED[0] && minor >= OLDEST_SUPPORTED[1];
}

function basePython({ executable, version }: Answer): BasePython {
  return { executable, version: version.join('.') };
}

function nothingFits(found: readonly Answer[], platform: NodeJS.Platform) {
  const withoutVenv = found.find(isSupported);
  if (withoutVenv) {
    const [major, minor] = withoutVenv.version;
    const install =
      platform === 'linux'
        ? `Install it, on Debian and Ubuntu with "sudo apt install python${major}.${minor}-venv", then start again.`
        : 'Install Python from python.org, then start again.';
    return appError(
      'python_missing',
      `Python ${withoutVenv.version.join('.')} is there (${withoutVenv.executable}), but without its venv module.`,
      { nextStep: install },
    );
  }
  const versions = [...new Set(found.map(({ version }) => version.join('.')))];
  return appError(
    'python_missing',
    versions.length > 0
      ? `Python 3.10 or newer is needed; only ${versions.join(', ')} is installed.`
      : 'Python 3.10 or newer is needed, and no Python was found.',
  );
}
