/** Finds a Python on this computer with which an environment can be made. */
import { z } from 'zod';
import { appError, type AppError } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import type { CommandRunner } from '../runCommand.ts';
import {
  isSupportedPython,
  SUPPORTED_PYTHONS,
  SUPPORTED_VERSIONS,
  type PythonVersion,
} from './supportedPython.ts';

export interface BasePython {
  readonly executable: string;
  readonly version: string;
}

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

type Candidate = readonly [file: string, ...args: string[]];

interface BasePythonSearch {
  readonly run: CommandRunner;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Whether Python's own venv module is what will make the environment. */
  readonly needsVenv: boolean;
  /** The only version that will do, such as 3.12. */
  readonly only?: string | undefined;
}

export async function findBasePython(search: BasePythonSearch): Promise<Result<BasePython>> {
  const found: Answer[] = [];
  for (const candidate of await candidates(search)) {
    const answer = await ask(search, candidate);
    if (answer === undefined) continue;
    if (unfitness(answer, search) === null) {
      return ok({ executable: answer.executable, version: answer.version.join('.') });
    }
    found.push(answer);
  }
  return err(nothingFits(found, search));
}

async function candidates({ run, env, platform }: BasePythonSearch): Promise<Candidate[]> {
  if (platform === 'win32') {
    // "py -3" answers with the newest only, which may be too new while an older one that fits is there.
    return [
      ...SUPPORTED_VERSIONS.map((version): Candidate => ['py', `-${version}`]),
      ['python'],
      ['python3'],
    ];
  }
  const names = ['python3', 'python', ...SUPPORTED_VERSIONS.map((version) => `python${version}`)];
  if (platform !== 'darwin') return [...names, '/usr/bin/python3'].map((name): Candidate => [name]);
  // A program started from the Finder doesn't have the folders of Homebrew and python.org in its PATH.
  const folders = [
    '/opt/homebrew/bin',
    '/usr/local/bin',
    ...SUPPORTED_VERSIONS.map((version) => `/Library/Frameworks/Python.framework/Versions/${version}/bin`),
  ];
  const absolute = folders.flatMap((folder) =>
    ['python3', ...SUPPORTED_VERSIONS.map((version) => `python${version}`)].map(
      (name) => `${folder}/${name}`,
    ),
  );
  // Without the developer tools, /usr/bin/python3 is Apple's stub, which opens a dialog that offers them. It is found by
  // its bare name too.
  const tools = await run({
    file: '/usr/bin/xcode-select',
    args: ['-p'],
    env: scrubbedEnvironment(env),
    timeoutMs: ANSWER_TIMEOUT_MS,
  });
  const own = tools.ending === 'succeeded' ? [...names, '/usr/bin/python3'] : withoutStub(names, env);
  return [...own, ...absolute].map((name): Candidate => [name]);
}

/** The names as files in the folders of the PATH other than Apple's. */
function withoutStub(names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const folders = (env['PATH'] ?? '')
    .split(':')
    .filter((folder) => folder.startsWith('/') && !/^\/usr\/bin\/?$/.test(folder));
  return folders.flatMap((folder) => names.map((name) => `${folder.replace(/\/$/, '')}/${name}`));
}

async function ask({ run, env }: BasePythonSearch, [file, ...args]: Candidate): Promise<Answer | undefined> {
  const outcome = await run({
    file,
    args: [...args, '-I', '-c', QUESTION],
    env: scrubbedEnvironment(env),
    timeoutMs: ANSWER_TIMEOUT_MS,
  });
  return outcome.ending === 'succeeded' ? parseJson(answerSchema, outcome.stdout) : undefined;
}

type Unfitness = 'version' | 'store' | 'venv';

function unfitness(answer: Answer, { needsVenv, only }: BasePythonSearch): Unfitness | null {
  if (only !== undefined && answer.version.slice(0, 2).join('.') !== only) return 'version';
  if (!isSupportedPython(answer.version satisfies PythonVersion)) return 'version';
  // Windows redirects what a Python of the Microsoft Store writes: its environment lands in another folder than asked for.
  if (/[\\/]WindowsApps[\\/]/i.test(answer.executable)) return 'store';
  return needsVenv && !answer.venv ? 'venv' : null;
}

function nothingFits(found: readonly Answer[], search: BasePythonSearch): AppError {
  const install = `Install Python ${search.only ?? SUPPORTED_VERSIONS[1] ?? ''} from python.org, then start again.`;
  const withoutVenv = found.find((answer) => unfitness(answer, search) === 'venv');
  if (withoutVenv) {
    const [major, minor] = withoutVenv.version;
    return appError(
      'python_missing',
      `Python ${withoutVenv.version.join('.')} is there (${withoutVenv.executable}), but without its venv module.`,
      {
        nextStep:
          search.platform === 'linux'
            ? `Install it, on Debian and Ubuntu with "sudo apt install python${major}.${minor}-venv", then start again.`
            : install,
      },
    );
  }
  if (found.some((answer) => unfitness(answer, search) === 'store')) {
    return appError(
      'python_missing',
      'Only a Python of the Microsoft Store is installed, which may not write where the environment belongs.',
      { nextStep: install },
    );
  }
  const needed = search.only === undefined ? SUPPORTED_PYTHONS : `Python ${search.only}`;
  const versions = [...new Set(found.map(({ version }) => version.join('.')))];
  return appError(
    'python_missing',
    versions.length > 0
      ? `${needed} is needed; only ${versions.join(', ')} is installed.`
      : `${needed} is needed, and no Python was found.`,
    { nextStep: install },
  );
}
