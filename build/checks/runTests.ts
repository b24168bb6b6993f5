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
import {
  describeCounts,
  EMPTY_REPORT,
  failedTests,
  readPlaywrightReport,
  readPytestReport,
  readVitestReport,
  skippedTests,
  slowestTests,
  type SuiteReport,
  type TestOutcome,
} from './testReports.ts';

const root = join(import.meta.dirname, '..', '..');
const reports = join(root, 'test-results', 'counts');
const SLOWEST_SHOWN = 10;

interface SuiteOutcome extends SuiteReport {
  readonly exitCode: number;
}

/** Each function runs one suite; it returns undefined if the suite can't run here, after printing why. */
const SUITES: Record<string, () => Promise<SuiteOutcome | undefined>> = {
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
const total = { passed: 0, failed: 0, skipped: 0 };
const tests: TestOutcome[] = [];
const started = Date.now();
for (const [name, runSuite] of suites) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const suiteStarted = Date.now();
  const outcome = await runSuite();
  if (outcome === undefined) continue;
  const { counts, exitCode } = outcome;
  // A suite that fails without a failed test, for example because it crashed, is a failure, too.
  const crashed = exitCode !== 0 && counts.failed === 0;
  if (crashed) process.stdout.write(`${name} ended with exit code ${exitCode}\n`);
  total.passed += counts.passed;
  total.failed += crashed ? 1 : counts.failed;
  total.skipped += counts.skipped;
  tests.push(...outcome.tests.map((test) => ({ ...test, name: `${name}: ${test.name}` })));
  if (crashed) tests.push({ name, seconds: 0, failure: `ended with exit code ${exitCode}`, skipped: null });
  process.stdout.write(`${name}: ${describeCounts(counts)} (${secondsSince(suiteStarted)} s)\n`);
}
process.stdout.write(`\nSlowest tests:\n${slowestTests(tests, SLOWEST_SHOWN).join('\n')}\n`);
const skipped = skippedTests(tests);
if (skipped.length > 0) process.stdout.write(`\nSkipped tests:\n${skipped.join('\n')}\n`);
const failures = failedTests(tests);
if (failures.length > 0) process.stdout.write(`\nFailed tests:\n${failures.join('\n')}\n`);
process.stdout.write(`\nAll suites: ${secondsSince(started)} s\n${describeCounts(total)}\n`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

function secondsSince(moment: number): number {
  return Math.round((Date.now() - moment) / 1000);
}

async function runVitest(): Promise<SuiteOutcome> {
  const report = join(reports, 'vitest.json');
  const exitCode = await run(process.execPath, [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]);
  return { ...readReport(report, readVitestReport), exitCode };
}

async function runPytest(): Promise<SuiteOutcome> {
  const report = join(reports, 'pytest.xml');
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
  const exitCode = await run(launch.file, launch.args, launch.env);
  return { ...readReport(report, readPytestReport), exitCode };
}

async function runPlaywright(): Promise<SuiteOutcome | undefined> {
  if (findChromium() === undefined) {
    process.stdout.write(
      'Not run: there is no Chromium here. Install chromium-headless-shell, chromium or google-chrome for these tests.\n',
    );
    return undefined;
  }
  const report = join(reports, 'playwright.json');
  const exitCode = await run(
    process.execPath,
    [join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json'],
    { ...definedEnvironment(), PLAYWRIGHT_JSON_OUTPUT_FILE: report },
  );
  return { ...readReport(report, readPlaywrightReport), exitCode };
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

/** A suite that ended before it wrote a report has no counts; its exit code shows the failure. */
function readReport(file: string, read: (text: string) => SuiteReport): SuiteReport {
  return existsSync(file) ? read(readFileSync(file, 'utf8')) : EMPTY_REPORT;
}
