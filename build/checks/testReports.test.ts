import { expect, it } from 'vitest';
import {
  describeCounts,
  readPlaywrightReport,
  readPytestReport,
  readVitestReport,
  slowestTests,
} from './testReports.ts';

it('counts a browser test that passed only at the second try as failed', () => {
  const spec = (title: string, ...durations: number[]) => ({
    title,
    tests: [{ results: durations.map((duration) => ({ duration })) }],
  });
  const { counts, durations } = readPlaywrightReport(
    JSON.stringify({
      stats: { expected: 1, flaky: 1, unexpected: 0, skipped: 2 },
      suites: [{ specs: [spec('opens', 500)], suites: [{ specs: [spec('pauses', 2000, 1000)] }] }],
    }),
  );
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 2 });
  expect(durations).toEqual(
    expect.arrayContaining([
      { name: 'opens', seconds: 0.5 },
      { name: 'pauses', seconds: 3 },
    ]),
  );
});

it("reads pytest's counts and durations, errors in set-up among the failures", () => {
  const { counts, durations } = readPytestReport(
    '<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="3" ' +
      'tests="10" time="12.5"><testcase classname="tests.test_frames" name="test_codons[ATG]" time="1.250" />' +
      '<testcase classname="tests.test_frames" name="test_gaps" time="0.5"><skipped /></testcase></testsuite></testsuites>',
  );
  expect(describeCounts(counts)).toBe('4 passed, 3 failed, 3 skipped');
  expect(durations).toEqual([
    { name: 'tests.test_frames.test_codons[ATG]', seconds: 1.25 },
    { name: 'tests.test_frames.test_gaps', seconds: 0.5 },
  ]);
});

it("reads Vitest's counts and durations, and names the slowest tests first", () => {
  const { counts, durations } = readVitestReport(
    JSON.stringify({
      numPassedTests: 2,
      numFailedTests: 0,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        { assertionResults: [{ fullName: 'quick', duration: 5 }, { fullName: 'skipped' }] },
        { assertionResults: [{ fullName: 'slow', duration: 61_000 }] },
      ],
    }),
  );
  expect(counts).toEqual({ passed: 2, failed: 0, skipped: 2 });
  expect(slowestTests(durations, 2)).toEqual(['   61.0 s  slow', '    0.0 s  quick']);
});
