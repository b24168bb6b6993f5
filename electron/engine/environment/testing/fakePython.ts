/** A pretended computer for tests: answers commands as the real programs do, and can be made to fail in their ways. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownInterpreter } from '../ownEnvironment.ts';
import type { Command, CommandOutcome, CommandRunner } from '../runCommand.ts';

const PACKAGES = { torch: '2.13.0', numpy: '2.4.6' };

interface FakePython {
  version: [number, number, number];
  venv?: boolean;
  /** Where it says that it lies. */
  executable?: string;
}

export interface FakeComputer {
  /** By the words with which each is called: "python3", "py -3.12", "/opt/homebrew/bin/python3". */
  pythons: Record<string, FakePython>;
  /** Where programs called by a bare name lie: only a search path that names this folder finds them. */
  programsFolder?: string;
  /** Whether Apple's developer tools are installed. */
  developerTools?: boolean;
  /** What uv writes to standard error when it fails to fetch a Python; undefined where it works. */
  managedPythonFailure?: string;
  /** What an installer writes to standard error when it fails; undefined where it works. */
  installFailure?: string;
  /** The same for packages of PyTorch's own index only. */
  torchIndexFailure?: string;
  /** How many checks after an installation find a package that can't be imported. */
  brokenImports?: number;
  packages?: Record<string, string>;
}

export function fakePython(computer: FakeComputer): {
  run: CommandRunner;
  /** What was done, in short. */
  commands: string[];
  /** Every program that was started, with its words. */
  calls: string[];
} {
  const commands: string[] = [];
  const calls: string[] = [];
  let brokenImports = computer.brokenImports ?? 0;

  const run: CommandRunner = (command) => {
    const words = command.args.join(' ');
    calls.push(`${command.file} ${words}`);
    commands.push(kindOf(command.file, words));
    if (command.signal?.aborted) return outcome({ ending: 'cancelled' });
    if (command.file === '/usr/bin/xcode-select') return succeedIf(computer.developerTools === true);
    if (words.includes('find_spec')) return answerVersion(command);
    if (words.includes('python install')) return failWith(computer.managedPythonFailure);
    if (/\bvenv\b/.test(words)) return makeVenv(command.args.at(-1) ?? '');
    if (words.includes('pip install')) return install(command);
    if (words.includes('pip --version') || words.includes('import sys')) return outcome({});
    return answerCheck(command, words.includes('--import'));
  };

  function answerVersion(command: Command): Promise<CommandOutcome> {
    const called = [command.file, ...command.args.slice(0, command.args.indexOf('-I'))].join(' ');
    const python = computer.pythons[called];
    const { programsFolder } = computer;
    const isFound = programsFolder === undefined || searchPath(command.env).includes(programsFolder);
    if (!python || !isFound) return outcome({ ending: 'not_started' });
    const executable = python.executable ?? (called.startsWith('/') ? called : `/usr/bin/${called}`);
    return outcome({
      stdout: JSON.stringify({ executable, version: python.version, venv: python.venv ?? true }),
    });
  }

  function makeVenv(folder: string): Promise<CommandOutcome> {
    const interpreter = ownInterpreter(folder);
    mkdirSync(dirname(interpreter), { recursive: true });
    writeFileSync(interpreter, '');
    writeFileSync(join(folder, 'pyvenv.cfg'), '');
    return outcome({});
  }

  function install(command: Command): Promise<CommandOutcome> {
    command.onLine?.('Downloading https://files.example/torch-2.13.0-cp311.whl (500.0 MB)');
    command.onLine?.('Progress 250 of 500');
    command.onLine?.('Installing collected packages: torch');
    command.onLine?.('Attempting uninstall: setuptools');
    command.onLine?.('Successfully installed torch-2.13.0');
    const fromTorchIndex = /--index-url|--torch-backend/.test(command.args.join(' '));
    return failWith((fromTorchIndex ? computer.torchIndexFailure : undefined) ?? computer.installFailure);
  }

  function answerCheck(command: Command, thorough: boolean): Promise<CommandOutcome> {
    const broken = thorough && brokenImports-- > 0;
    return outcome({
      stdout: JSON.stringify({
        executable: command.file,
        python_version: '3.12.1',
        packages: computer.packages ?? PACKAGES,
        problems: broken ? { torch: 'cannot be imported: OSError' } : {},
      }),
    });
  }

  return { run, commands, calls };
}

/** As Node and Windows choose among names that differ in their letters only: the first in order counts. */
function searchPath(env: Command['env']): string {
  const name = Object.keys(env).sort().find((one) => one.toUpperCase() === 'PATH'); // prettier-ignore
  return env[name ?? ''] ?? '';
}

function kindOf(file: string, words: string): string {
  if (words.includes('find_spec')) return 'version?';
  if (words.includes('python install')) return 'fetch python';
  if (/\bvenv\b/.test(words)) return 'venv';
  if (words.includes('pip install')) return `install ${words.split(' ').at(-1)?.split('/').at(-1) ?? ''}`;
  if (words.includes('pip --version')) return 'pip?';
  if (words.includes('import sys')) return 'starts?';
  if (file.endsWith('xcode-select')) return 'developer tools?';
  return words.includes('--import') ? 'import' : 'check';
}

function succeedIf(success: boolean): Promise<CommandOutcome> {
  return outcome(success ? {} : { ending: 'failed', exitCode: 2 });
}

function failWith(stderr: string | undefined): Promise<CommandOutcome> {
  return outcome(stderr === undefined ? {} : { ending: 'failed', exitCode: 1, stderr });
}

function outcome(facts: Partial<CommandOutcome>): Promise<CommandOutcome> {
  return Promise.resolve({
    ending: 'succeeded',
    exitCode: 0,
    stdout: '',
    stderr: '',
    summary: 'command',
    ...facts,
  });
}
