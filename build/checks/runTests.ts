/**
 * `npm test [vitest] [pytest] [e2e]` runs the suites, lists the slowest and the skipped tests, and ends with
 * one line that counts them all.
 * `npm run test:long` runs the tests that are too long for every day, `*.long.test.ts` and `*.long.spec.ts`,
 * in the same way.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { findChromium } from '../../e2e/support/findChromium.ts';
import { pythonLaunch } from '../../electron/engine/environment/pythonLaunch.ts';
import { testEnvironment } from '../pythonEnvironment.ts';
import { LONG_TESTS } from './longTests.ts';
import { byReason, describeCounts, readJunitReport, slowestTests, type TestOutcome } from './junitReport.ts';

const root = join(import.meta.dirname, '..', '..');
const reports = join(root, 'test-results', 'counts');
const SLOWEST_SHOWN = 10;

/** Each function runs one suite, which writes a JUnit report, and returns its exit code; undefined if it can't run here. */
const SUITES: Record<string, (report: string) => Promise<number | undefined>> = {
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

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const environment = await testEnvironment();
const tests: TestOutcome[] = [];
const started = Date.now();
for (const [name, runSuite] of suites) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const suiteStarted = Date.now();
  const report = join(reports, `${name}.xml`);
  const exitCode = await runSuite(report);
  if (exitCode === undefined) continue;
  const outcomes = existsSync(report) ? readJunitReport(readFileSync(report, 'utf8')) : [];
  // A suite that fails without a failed test, for example because it crashed, is a failure, too.
  if (exitCode !== 0 && !outcomes.some(({ result }) => result === 'failed'))
    outcomes.push({ name, seconds: 0, result: 'failed', reason: `ended with exit code ${exitCode}` });
  tests.push(...outcomes);
  process.stdout.write(`${name}: ${describeCounts(outcomes)} (${secondsSince(suiteStarted)} s)\n`);
}
process.stdout.write(`\nSlowest tests:\n${slowestTests(tests, SLOWEST_SHOWN).join('\n')}\n`);
for (const [heading, result] of [
  ['Skipped', 'skipped'],
  ['Failed', 'failed'],
] as const) {
  const lines = byReason(tests, result);
  if (lines.length > 0) process.stdout.write(`\n${heading} tests:\n${lines.join('\n')}\n`);
}
process.stdout.write(`\nAll suites: ${secondsSince(started)} s\n${describeCounts(tests)}\n`);
const good =
  tests.some(({ result }) => result === 'passed') && !tests.some(({ result }) => result === 'failed');
process.exitCode = good ? 0 : 1;

function secondsSince(moment: number): number {
  return Math.round((Date.now() - moment) / 1000);
}

async function runVitest(report: string): Promise<number> {
  return run(process.execPath, [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=junit',
    `--outputFile.junit=${report}`,
  ]);
}

async function runPytest(report: string): Promise<number> {
  const args = [
    '-n',
    // The tests spend a third of their time waiting for processes.
    String(2 * availableParallelism()),
    '--dist=loadfile',
    `--rootdir=${join(root, 'python-backend')}`,
    `--junitxml=${report}`,
    join(root, 'python-backend', 'tests'),
  ];
  // Scripts that the tests start import modules from their own folder, which the program itself never does.
  const launch = pythonLaunch(environment, 'pytest', args, { PYTHONSAFEPATH: '' });
  return run(launch.file, launch.args, launch.env);
}

async function runPlaywright(report: string): Promise<number | undefined> {
  if (findChromium() === undefined) {
    process.stdout.write(
      'Not run: there is no Chromium here. Install chromium-headless-shell, chromium or google-chrome for these tests.\n',
    );
    return undefined;
  }
  return run(
    process.execPath,
    [join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test', '--reporter=list,junit'],
    { ...definedEnvironment(), PLAYWRIGHT_JUNIT_OUTPUT_FILE: report },
  );
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
