/**
 * `npm test [vitest] [pytest] [e2e]` runs the suites, each of which counts its tests, and ends with those that failed.
 * `npm run test:long` runs the tests that are too long for every day, `*.long.test.ts` and `*.long.spec.ts`,
 * in the same way.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { findChromium } from '../../e2e/support/findChromium.ts';
import { pythonLaunch } from '../../electron/engine/environment/pythonLaunch.ts';
import { testEnvironment } from '../pythonEnvironment.ts';
import { LONG_TESTS } from './longTests.ts';

const root = join(import.meta.dirname, '..', '..');

/** Each function runs one suite and returns its exit code. */
const SUITES: Record<string, () => Promise<number>> = {
  vitest: runVitest,
  pytest: runPytest,
  e2e: runPlaywright,
};

const { values: options, positionals: requested } = parseArgs({
  options: { long: { type: 'boolean', default: false } },
  allowPositionals: true,
});
/** Python has no long tests. */
const suites = Object.entries(SUITES).filter(([name]) => !(options.long && name === 'pytest'));
const unknown = requested.find((name) => !(name in SUITES));
if (unknown !== undefined) {
  process.stderr.write(`There is no suite "${unknown}"; there are ${Object.keys(SUITES).join(', ')}.\n`);
  process.exit(1);
}

const environment = await testEnvironment();
const failed: string[] = [];
for (const [name, runSuite] of suites) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  if ((await runSuite()) !== 0) failed.push(name);
  process.stdout.write(`${name}: ${Math.round((Date.now() - started) / 1000)} s\n`);
}
process.stdout.write(failed.length > 0 ? `\nFailed: ${failed.join(', ')}\n` : '\nAll suites passed\n');
process.exitCode = failed.length > 0 ? 1 : 0;

function runVitest(): Promise<number> {
  return run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run']);
}

function runPytest(): Promise<number> {
  const args = [
    '-n',
    // The tests spend a third of their time waiting for processes.
    String(2 * availableParallelism()),
    '--dist=loadfile',
    `--rootdir=${join(root, 'python-backend')}`,
    ...['--durations=10', '-rs'],
    join(root, 'python-backend', 'tests'),
  ];
  // Scripts that the tests start import modules from their own folder, which the program itself never does.
  const launch = pythonLaunch(environment, 'pytest', args, { PYTHONSAFEPATH: '' });
  return run(launch.file, launch.args, launch.env);
}

function runPlaywright(): Promise<number> {
  if (findChromium() !== undefined)
    return run(process.execPath, [join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test']);
  process.stdout.write(
    'Not run: there is no Chromium here. Install chromium-headless-shell, chromium or google-chrome for these tests.\n',
  );
  return Promise.resolve(0);
}

async function run(
  file: string,
  args: readonly string[],
  env: Record<string, string> = definedEnvironment(),
): Promise<number> {
  const result = await execa(file, args, {
    cwd: root,
    env,
    extendEnv: false,
    stdio: 'inherit',
    reject: false,
  });
  return result.exitCode ?? 1;
}

function definedEnvironment(): Record<string, string> {
  const variables: NodeJS.ProcessEnv = { ...process.env, ...(options.long ? { [LONG_TESTS]: '1' } : {}) };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
