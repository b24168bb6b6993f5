/** Builds the command line and the environment variables that start a module of the Python backend. */
import { delimiter } from 'node:path';

export interface PythonEnvironment {
  /** Absolute path of the interpreter. */
  readonly interpreter: string;
  /** True for the environment that this program created; false for an interpreter that the user named. */
  readonly own: boolean;
  readonly pythonVersion: string;
  /** Versions of the packages that computing needs, by distribution name. */
  readonly packages: Readonly<Record<string, string>>;
  /** The folder for PYTHONPATH: python-backend/src. */
  readonly source: string;
}

export interface PythonLaunch {
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment: start the process with `extendEnv: false`. */
  readonly env: Record<string, string>;
}

/** PYTHON* variables that are harmless for an environment of our own. */
const HARMLESS = new Set(['PYTHONDONTWRITEBYTECODE', 'PYTHONPYCACHEPREFIX']);
/** pip settings that would install packages elsewhere than into our environment. Mirrors and proxies stay. */
const MISDIRECTING_PIP = new Set([
  'PIP_USER',
  'PIP_TARGET',
  'PIP_PREFIX',
  'PIP_ROOT',
  'PIP_PYTHON',
  'PIP_REQUIRE_VIRTUALENV',
]);

/** `overrides` are applied last, such as a worker's CUDA_VISIBLE_DEVICES. */
export function pythonLaunch(
  environment: PythonEnvironment,
  module: string,
  args: readonly string[] = [],
  overrides: Readonly<Record<string, string>> = {},
  inherited: NodeJS.ProcessEnv = process.env,
): PythonLaunch {
  const base = environment.own
    ? { ...scrubbedEnvironment(inherited), ...OWN_SETTINGS, PYTHONPATH: environment.source }
    : {
        ...defined(inherited),
        ...OWN_FOLDERS,
        PYTHONPATH: prepended(environment.source, inherited['PYTHONPATH']),
      };
  return {
    file: environment.interpreter,
    args: ['-X', 'utf8', '-u', '-m', module, ...args],
    env: { ...base, ...withoutBytecode(inherited), ...overrides },
  };
}

/**
 * Python would write compiled files beside its sources: into the program's own folder, which on macOS would
 * break its signature.
 * Compiling our sources takes 0.2 s; the compiled files of the installed packages are in the environment.
 */
function withoutBytecode(inherited: NodeJS.ProcessEnv): Record<string, string> {
  return inherited['PYTHONPYCACHEPREFIX'] ? {} : { PYTHONDONTWRITEBYTECODE: '1' };
}

/** A file such as random.py in the current folder must not hide the library's module. */
const OWN_FOLDERS = { PYTHONSAFEPATH: '1' } as const;

const OWN_SETTINGS = {
  ...OWN_FOLDERS,
  PYTHONUTF8: '1',
  PYTHONIOENCODING: 'utf-8',
  PYTHONNOUSERSITE: '1',
  TOKENIZERS_PARALLELISM: 'false',
} as const;

/** The environment without variables that would lead our interpreter to other packages. */
export function scrubbedEnvironment(inherited: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(defined(inherited)).filter(([name]) => !leadsAstray(name.toUpperCase())),
  );
}

function leadsAstray(name: string): boolean {
  if (name.startsWith('PYTHON')) return !HARMLESS.has(name);
  if (name === 'VIRTUAL_ENV' || name === 'VIRTUAL_ENV_PROMPT' || name === '__PYVENV_LAUNCHER__') return true;
  return /^_?CONDA_/.test(name) || MISDIRECTING_PIP.has(name);
}

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function prepended(folder: string, paths: string | undefined): string {
  return paths ? `${folder}${delimiter}${paths}` : folder;
}
