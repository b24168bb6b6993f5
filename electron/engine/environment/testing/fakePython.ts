/** A fake computer whose Pythons, uv and environment give prepared answers: no process is started. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unwrap } from '../../../contract/errors.ts';
import { HERE } from '../../system/here.ts';
import { resolveAppPaths, type AppPaths } from '../appPaths.ts';
import { uvFileName } from '../install/uv.ts';
import type { Command, CommandOutcome, CommandRunner } from '../runCommand.ts';

const PACKAGES = { torch: '2.13.0', numpy: '2.4.6' };

/** An installed program in this folder, with these files of requirements and no others. */
export function installedProgram(root: string, requirements: Record<string, string>): AppPaths {
  for (const part of ['python-backend/src/virnucpro_backend', 'resources', 'uv'])
    mkdirSync(join(root, part), { recursive: true });
  for (const [name, content] of Object.entries(requirements))
    writeFileSync(join(root, 'python-backend', name), content);
  const env = { VIRNUCPRO_HOME: root, VIRNUCPRO_DATA_DIR: join(root, 'data') };
  return unwrap(resolveAppPaths({ env }));
}

export interface FakeComputer {
  /** Path of the Python that uv finds on it; undefined if there is none. */
  systemPython?: string;
  /** Whether a Python on it has pip. */
  pip?: boolean;
  /** What uv writes to standard error when it fails to download a Python; undefined if that works. */
  managedPythonFailure?: string;
  /** What uv writes to standard error when it fails to install; undefined if that works. */
  installFailure?: string;
  /** The same, only for packages from PyTorch's own index. */
  torchIndexFailure?: string;
  /** How many checks after an installation find a package that can't be imported. */
  brokenImports?: number;
  packages?: Record<string, string>;
}

export function fakePython(computer: FakeComputer): {
  run: CommandRunner;
  /** A short summary of each command. */
  commands: string[];
  /** Every program that was started, with its arguments. */
  calls: string[];
  /** The environment of each of these programs. */
  environments: Command['env'][];
} {
  const commands: string[] = [];
  const calls: string[] = [];
  const environments: Command['env'][] = [];
  let brokenImports = computer.brokenImports ?? 0;

  const run: CommandRunner = (command) => {
    const args = command.args.join(' ');
    calls.push(`${command.file} ${args}`);
    commands.push(kindOf(args));
    environments.push(command.env);
    if (command.signal?.aborted) return outcome({ ending: 'cancelled' });
    if (args.includes('pip --version')) return failWith(computer.pip ? undefined : 'No module named pip');
    if (args.includes('--target')) return fetchUv(command);
    if (args.includes('python find')) return findPython();
    if (args.includes('python install')) return failWith(computer.managedPythonFailure);
    if (/\bvenv\b/.test(args)) return makeVenv(command.args.at(-1) ?? '');
    if (args.includes('pip install')) return install(command);
    if (args.includes('import sys')) return outcome({});
    return answerCheck(command, args.includes('--import'));
  };

  function findPython(): Promise<CommandOutcome> {
    const { systemPython } = computer;
    return systemPython === undefined ? failWith('No interpreter found') : outcome({ stdout: systemPython });
  }

  function fetchUv(command: Command): Promise<CommandOutcome> {
    const folder = command.args[command.args.indexOf('--target') + 1] ?? '';
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', uvFileName(process.platform)), 'not the published one');
    return outcome({});
  }

  function makeVenv(folder: string): Promise<CommandOutcome> {
    const interpreter = HERE.interpreterIn(folder);
    mkdirSync(dirname(interpreter), { recursive: true });
    writeFileSync(interpreter, '');
    writeFileSync(join(folder, 'pyvenv.cfg'), '');
    return outcome({});
  }

  function install(command: Command): Promise<CommandOutcome> {
    command.onLine?.('Downloading numpy (1.0MiB)');
    command.onLine?.('Downloading torch (3.0MiB)');
    command.onLine?.('Downloaded numpy');
    command.onLine?.('Installed 2 packages in 8ms');
    const fromTorchIndex = command.args.includes('--torch-backend');
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

  return { run, commands, calls, environments };
}

function kindOf(args: string): string {
  if (args.includes('pip --version')) return 'pip?';
  if (args.includes('--target')) return 'fetch uv';
  if (args.includes('python find')) return 'find python';
  if (args.includes('python install')) return 'fetch python';
  if (/\bvenv\b/.test(args)) return 'venv';
  if (args.includes('pip install')) return `install ${args.split(' ').at(-1)?.split('/').at(-1) ?? ''}`;
  if (args.includes('import sys')) return 'starts?';
  return args.includes('--import') ? 'import' : 'check';
}

function failWith(stderr: string | undefined): Promise<CommandOutcome> {
  return outcome(stderr === undefined ? {} : { ending: 'failed', exitCode: 1, stderr });
}

/** How a command ended: well and without output, except for these facts. */
export function outcome(facts: Partial<CommandOutcome>): Promise<CommandOutcome> {
  return Promise.resolve({
    ending: 'succeeded',
    exitCode: 0,
    stdout: '',
    stderr: '',
    summary: 'command',
    ...facts,
  });
}
