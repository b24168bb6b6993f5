import { expect, it } from 'vitest';
import {
  describeCounts,
  failedTests,
  readPlaywrightReport,
  readPytestReport,
  readVitestReport,
  skippedTests,
  slowestTests,
} from './testReports.ts';

it('counts a browser test that passed only at the second attempt as failed', () => {
  const spec = (title: string, ...durations: number[]) => ({
    title,
    tests: [
      {
        results: durations.map((duration, i) =>
          i + 1 < durations.length
            ? { duration, status: 'failed', error: { message: '\u001b[31mNot there\u001b[39m\nmore' } }
            : { duration, status: 'passed' },
        ),
      },
    ],
  });
  const { counts, tests } = readPlaywrightReport(
    JSON.stringify({
      stats: { expected: 1, flaky: 1, unexpected: 0, skipped: 2 },
      suites: [
        {
          specs: [
            spec('opens', 500),
            {
              title: 'shows',
              tests: [
                {
                  status: 'skipped',
                  annotations: [{ type: 'skip', description: 'no Electron' }],
                  results: [{ status: 'skipped', duration: 0 }],
                },
              ],
            },
          ],
          suites: [{ specs: [spec('pauses', 2000, 1000)] }],
        },
      ],
    }),
  );
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 2 });
  expect(tests).toEqual(
    expect.arrayContaining([
      { name: 'opens', seconds: 0.5, failure: null, skipped: null },
      { name: 'shows', seconds: 0, failure: null, skipped: 'no Electron' },
      { name: 'pauses', seconds: 3, failure: 'Not there', skipped: null },
    ]),
  );
});

it('reads the counts and durations of pytest, counts errors in the set-up as failures, and reads why tests were skipped', () => {
  const { counts, tests } = readPytestReport(
    '<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="3" ' +
      'tests="10" time="12.5"><testcase classname="tests.test_frames" name="test_codons[ATG]" time="1.250"><failure message="assert 1 == 2&#10;more">x</failure></testcase>' +
      '<testcase classname="tests.test_frames" name="test_gaps" time="0.5"><skipped type="pytest.skip" message="no GPU">a.py:5: no GPU</skipped></testcase>' +
      '<testcase classname="tests.test_frames" name="test_gaps[2]" time="0"><skipped type="pytest.skip" message="no GPU"/></testcase></testsuite></testsuites>',
  );
  expect(describeCounts(counts)).toBe('4 passed, 3 failed, 3 skipped');
  expect(tests).toEqual([
    { name: 'tests.test_frames.test_codons[ATG]', seconds: 1.25, failure: 'assert 1 == 2', skipped: null },
    { name: 'tests.test_frames.test_gaps', seconds: 0.5, failure: null, skipped: 'no GPU' },
    { name: 'tests.test_frames.test_gaps[2]', seconds: 0, failure: null, skipped: 'no GPU' },
  ]);
  expect(skippedTests(tests)).toEqual(['  no GPU:', '      tests.test_frames.test_gaps']);
});

it('reads the counts and durations of Vitest, and lists the slowest and the failed tests', () => {
  const { counts, tests } = readVitestReport(
    JSON.stringify({
      numPassedTests: 1,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        {
          assertionResults: [
            { fullName: 'quick', status: 'failed', duration: 5, failureMessages: ['Error: no\n at'] },
            { fullName: 'skipped', status: 'skipped' },
          ],
        },
        { assertionResults: [{ fullName: 'slow', status: 'passed', duration: 61_000 }] },
        { name: 'a.test.ts', status: 'failed', message: 'Cannot find it', assertionResults: [] },
      ],
    }),
  );
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 2 });
  expect(failedTests(tests)).toEqual(['  quick\n      Error: no', '  a.test.ts\n      Cannot find it']);
  expect(skippedTests(tests)).toEqual([expect.any(String), '      skipped']);
  expect(slowestTests(tests, 2)).toEqual(['   61.0 s  slow', '    0.0 s  quick']);
});
