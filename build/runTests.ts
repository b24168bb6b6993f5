/** `npm test [vitest] [pytest] [e2e]`: runs the suites and ends with one line that counts them all. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { pythonLaunch } from '../electron/engine/environment/pythonLaunch.ts';
import { findChromium } from './findChromium.ts';
import { testEnvironment } from './pythonEnvironment.ts';

const root = join(import.meta.dirname, '..');
const reports = join(root, 'test-results', 'counts');

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}
interface Suite {
  /** Undefined where the suite can't run here, with the reason told. */
  run: () => Promise<{ counts: Counts; exitCode: number } | undefined>;
}

const SUITES: Record<string, Suite> = {
  vitest: { run: runVitest },
  pytest: { run: runPytest },
  e2e: { run: runPlaywright },
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in SUITES));
if (unknown !== undefined) {
  process.stderr.write(`There is no suite "${unknown}"; there are ${Object.keys(SUITES).join(', ')}.\n`);
  process.exit(1);
}

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const environment = await testEnvironment();
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
let broken = false;
for (const [name, suite] of Object.entries(SUITES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  const outcome = await suite.run();
  if (outcome === undefined) continue;
  const { counts, exitCode } = outcome;
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
  // A suite that ends badly without naming a failed test, such as by a crash, is a failure all the same.
  if (exitCode !== 0 && counts.failed === 0) {
    total.failed += 1;
    process.stdout.write(`${name} ended with exit code ${exitCode}\n`);
  }
  broken ||= exitCode !== 0 || counts.failed > 0;
  process.stdout.write(`${name}: ${line(counts)} (${Math.round((Date.now() - started) / 1000)} s)\n`);
}
process.stdout.write(`\n${line(total)}\n`);
process.exitCode = broken || total.passed === 0 ? 1 : 0;

function line(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

async function runVitest() {
  const report = join(reports, 'vitest.json');
  const exitCode = await run(process.execPath, [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]);
  const result = readReport(report, {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
  });
  const counts = {
    passed: result.numPassedTests,
    failed: result.numFailedTests,
    skipped: result.numPendingTests + result.numTodoTests,
  };
  return { counts, exitCode };
}

async function runPytest() {
  const report = join(reports, 'pytest.xml');
  const args = [
    '-n',
    '2',
    '--dist=loadfile',
    `--rootdir=${join(root, 'python-backend')}`,
    `--junitxml=${report}`,
    join(root, 'python-backend', 'tests'),
  ];
  // Scripts that the tests start import what lies beside them, which the program itself never does.
  const launch = pythonLaunch(environment, 'pytest', args, { PYTHONSAFEPATH: '' });
  const exitCode = await run(launch.file, launch.args, launch.env);
  const suite = /<testsuite [^>]*>/.exec(existsSync(report) ? readFileSync(report, 'utf8') : '')?.[0] ?? '';
  const attribute = (name: string): number => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const failed = attribute('failures') + attribute('errors');
  const skipped = attribute('skipped');
  return { counts: { passed: attribute('tests') - failed - skipped, failed, skipped }, exitCode };
}

async function runPlaywright() {
  if (!existsSync(join(root, 'playwright.config.ts'))) return undefined;
  const chromium = findChromium();
  if (chromium === undefined) {
    process.stdout.write(
      'Not run: there is no Chromium here. Install chromium or google-chrome for these tests.\n',
    );
    return undefined;
  }
  const report = join(reports, 'playwright.json');
  const exitCode = await run(
    process.execPath,
    [join(root, 'node_modules', '@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json'],
    { ...definedEnvironment(), CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: report },
  );
  const { stats } = readReport(report, { stats: { expected: 0, flaky: 0, unexpected: 0, skipped: 0 } });
  const counts = {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
  };
  return { counts, exitCode };
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
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Numbers of a suite's own report; zeros where it ended before it wrote one, which its exit code then tells. */
function readReport<Report extends object>(file: string, none: Report): Report {
  return existsSync(file) ? { ...none, ...(JSON.parse(readFileSync(file, 'utf8')) as Report) } : none;
}
