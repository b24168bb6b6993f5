/** Reads the reports of Vitest, pytest and Playwright: how many tests passed, how long each took, and why some failed. */
import { stripVTControlCharacters } from 'node:util';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface TestOutcome {
  readonly name: string;
  readonly seconds: number;
  /** The first line of its message; null for a test that passed or was skipped. */
  readonly failure: string | null;
  /** Why the test was skipped, if its runner reports it; null for a test that ran. */
  readonly skipped: string | null;
}

export interface SuiteReport {
  readonly counts: Counts;
  readonly tests: readonly TestOutcome[];
}

/** Vitest's report contains no reason. */
const NO_REASON = 'without a reason in the report';

/** The report of a suite that ended before it could write one. */
export const EMPTY_REPORT: SuiteReport = { counts: { passed: 0, failed: 0, skipped: 0 }, tests: [] };

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: {
      fullName: string;
      status: string;
      duration?: number | null;
      failureMessages: string[];
    }[];
  }[];
}

export function readVitestReport(json: string): SuiteReport {
  const report = JSON.parse(json) as VitestReport;
  return {
    counts: {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
    },
    tests: report.testResults.flatMap(({ name, status, message, assertionResults }) =>
      // If a file could not be loaded, there is no test to name.
      assertionResults.length === 0 && status === 'failed'
        ? [{ name, seconds: 0, failure: firstLine(message), skipped: null }]
        : assertionResults.map((test) => ({
            name: test.fullName,
            seconds: (test.duration ?? 0) / 1000,
            failure: test.status === 'failed' ? firstLine(test.failureMessages[0]) : null,
            skipped: test.status === 'failed' || test.status === 'passed' ? null : NO_REASON,
          })),
    ),
  };
}

/** Reads the JUnit XML of pytest, which has one `testsuite` with a `testcase` for each test. */
export function readPytestReport(xml: string): SuiteReport {
  const suite = attributes(/<testsuite\s[^>]*>/.exec(xml)?.[0] ?? '');
  const count = (name: string): number => Number(suite[name] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return {
    counts: { passed: count('tests') - failed - skipped, failed, skipped },
    tests: [...xml.matchAll(/(<testcase\s[^>]*>)(?:<(failure|error|skipped)\b[^>]*>)?/g)].map(
      ([outcome, tag = '', result]) => {
        const { classname = '', name = '', time } = attributes(tag);
        const reason = result && firstLine(attributes(outcome.slice(tag.length))['message']);
        return {
          name: `${classname}.${name}`,
          seconds: Number(time ?? 0),
          failure: reason !== undefined && result !== 'skipped' ? reason : null,
          skipped: reason !== undefined && result === 'skipped' ? reason || NO_REASON : null,
        };
      },
    ),
  };
}

function attributes(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll('&#10;', '\n')] as const,
    ),
  );
}

interface PlaywrightSuite {
  suites?: PlaywrightSuite[];
  specs?: {
    title: string;
    tests: {
      status?: string;
      annotations?: { type: string; description?: string }[];
      results: { status: string; duration: number; error?: { message?: string } }[];
    }[];
  }[];
}

interface PlaywrightReport extends PlaywrightSuite {
  stats: { expected: number; flaky: number; unexpected: number; skipped: number };
}

/**
 * A test that passed only at the second attempt counts as failed, because a user has no second attempt
 * either.
 */
export function readPlaywrightReport(json: string): SuiteReport {
  const report = JSON.parse(json) as PlaywrightReport;
  const { expected, flaky, unexpected, skipped } = report.stats;
  return {
    counts: { passed: expected, failed: unexpected + flaky, skipped },
    tests: playwrightTests(report),
  };
}

function playwrightTests({ suites = [], specs = [] }: PlaywrightSuite): TestOutcome[] {
  return [
    ...suites.flatMap(playwrightTests),
    ...specs.flatMap(({ title, tests }) =>
      tests.map(({ status, annotations = [], results }) => {
        const reason = annotations.find(({ type }) => type === 'skip')?.description;
        const failed = results.find(({ status }) => status !== 'passed' && status !== 'skipped');
        return {
          name: title,
          seconds: results.reduce((sum, { duration }) => sum + duration, 0) / 1000,
          failure: failed ? firstLine(failed.error?.message) : null,
          skipped: status === 'skipped' ? (reason ?? NO_REASON) : null,
        };
      }),
    ),
  ];
}

function firstLine(text: string | undefined): string {
  return (
    stripVTControlCharacters(text ?? '')
      .trim()
      .split(/\r?\n/)[0] ?? ''
  );
}

/**
 * The failed tests as lines to print again at the end, because a long log may have been truncated before
 * them.
 */
export function failedTests(tests: readonly TestOutcome[]): string[] {
  return tests.flatMap(({ name, failure }) => (failure === null ? [] : [`  ${name}\n      ${failure}`]));
}

/**
 * The skipped tests by reason, as lines to print; tests with the same name and different parameters appear
 * once.
 */
export function skippedTests(tests: readonly TestOutcome[]): string[] {
  const byReason = Map.groupBy(
    tests.filter(({ skipped }) => skipped !== null),
    ({ skipped }) => skipped,
  );
  return [...byReason].flatMap(([reason, skipped]) => [
    `  ${reason}:`,
    ...new Set(skipped.map(({ name }) => `      ${name.replace(/\[.*\]$/, '')}`)),
  ]);
}

/** The slowest tests, slowest first, as lines to print. */
export function slowestTests(tests: readonly TestOutcome[], count: number): string[] {
  return tests
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
}

export function describeCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
