/** A pretended Python for tests: answers commands as the real ones do, and can be made to fail in their ways. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownInterpreter } from '../ownEnvironment.ts';
import type { Command, CommandOutcome, CommandRunner } from '../runCommand.ts';

const PACKAGES = { torch: '2.13.0', numpy: '2.4.6' };

export interface FakeComputer {
  /** Versions by the name under which they are found in the PATH. */
  pythons: Record<string, { version: [number, number, number]; venv?: boolean }>;
  /** What pip writes to standard error when it fails; undefined where it works. */
  pipFailure?: string;
  /** How many checks after an installation find a package that can't be imported. */
  brokenImports?: number;
  packages?: Record<string, string>;
}

export function fakePython(computer: FakeComputer): { run: CommandRunner; commands: string[] } {
  const commands: string[] = [];
  let brokenImports = computer.brokenImports ?? 0;

  const run: CommandRunner = (command) => {
    const words = command.args.join(' ');
    commands.push(kindOf(words));
    if (command.signal?.aborted) return outcome({ ending: 'cancelled' });
    if (words.includes('find_spec')) return answerVersion(command);
    if (words.includes('-m venv')) return makeVenv(command.args.at(-1) ?? '');
    if (words.includes('pip install')) return install(command);
    if (words.includes('pip --version')) return outcome({});
    return answerCheck(command, words.includes('--import'));
  };

  function answerVersion(command: Command): Promise<CommandOutcome> {
    const python = computer.pythons[command.file];
    if (!python) return outcome({ ending: 'not_started' });
    const executable = `/usr/bin/${command.file}`;
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
    if (computer.pipFailure === undefined) return outcome({});
    return outcome({ ending: 'failed', exitCode: 1, stderr: computer.pipFailure });
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

  return { run, commands };
}

function kindOf(words: string): string {
  if (words.includes('find_spec')) return 'version?';
  if (words.includes('-m venv')) return 'venv';
  if (words.includes('pip install')) return `install ${words.split(' ').at(-1)?.split('/').at(-1) ?? ''}`;
  if (words.includes('pip --version')) return 'pip?';
  return words.includes('--import') ? 'import' : 'check';
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
