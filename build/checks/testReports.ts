/** Reads the reports of Vitest, pytest and Playwright: how many tests passed, and how long each took. */

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface TestDuration {
  readonly name: string;
  readonly seconds: number;
}

export interface SuiteReport {
  readonly counts: Counts;
  readonly durations: readonly TestDuration[];
}

/** What a suite reports that ended before it could write a report. */
export const EMPTY_REPORT: SuiteReport = { counts: { passed: 0, failed: 0, skipped: 0 }, durations: [] };

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { assertionResults: { fullName: string; duration?: number | null }[] }[];
}

export function readVitestReport(json: string): SuiteReport {
  const report = JSON.parse(json) as VitestReport;
  return {
    counts: {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
    },
    durations: report.testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ name: fullName, seconds: (duration ?? 0) / 1000 })),
    ),
  };
}

/** JUnit's XML, of which pytest writes one `testsuite` with one `testcase` a test. */
export function readPytestReport(xml: string): SuiteReport {
  const suite = attributes(/<testsuite\s[^>]*>/.exec(xml)?.[0] ?? '');
  const count = (name: string): number => Number(suite[name] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return {
    counts: { passed: count('tests') - failed - skipped, failed, skipped },
    durations: [...xml.matchAll(/<testcase\s[^>]*>/g)].map(([tag]) => {
      const { classname = '', name = '', time } = attributes(tag);
      return { name: `${classname}.${name}`, seconds: Number(time ?? 0) };
    }),
  };
}

function attributes(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const),
  );
}

interface PlaywrightSuite {
  suites?: PlaywrightSuite[];
  specs?: { title: string; tests: { results: { duration: number }[] }[] }[];
}

interface PlaywrightReport extends PlaywrightSuite {
  stats: { expected: number; flaky: number; unexpected: number; skipped: number };
}

/** A test that passed only at the second try has failed: whoever hits the first try in earnest gets no second. */
export function readPlaywrightReport(json: string): SuiteReport {
  const report = JSON.parse(json) as PlaywrightReport;
  const { expected, flaky, unexpected, skipped } = report.stats;
  return {
    counts: { passed: expected, failed: unexpected + flaky, skipped },
    durations: playwrightDurations(report),
  };
}

function playwrightDurations({ suites = [], specs = [] }: PlaywrightSuite): TestDuration[] {
  return [
    ...suites.flatMap(playwrightDurations),
    ...specs.flatMap(({ title, tests }) =>
      tests.map(({ results }) => ({
        name: title,
        seconds: results.reduce((sum, { duration }) => sum + duration, 0) / 1000,
      })),
    ),
  ];
}

/** The slowest tests, slowest first, as lines to print. */
export function slowestTests(durations: readonly TestDuration[], count: number): string[] {
  return durations
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
}

export function describeCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
