import { expect, it } from 'vitest';
import { byReason, describeCounts, readJunitReport, slowestTests } from './junitReport.ts';

it.each([
  [
    'Vitest',
    `<testcase classname="a.test.ts" name="group &gt; fits" time="1.25">
      </testcase><testcase classname="a.test.ts" name="breaks" time="0.5">
        <failure message="\u001b[31mone
line: expected 1 to be 2" type="AssertionError">
Error: <skipped/>
        </failure>
      </testcase><testcase classname="a.test.ts" name="waits" time="0"><skipped/></testcase>`,
    [
      { name: 'a.test.ts group > fits', seconds: 1.25, result: 'passed', reason: '' },
      { name: 'a.test.ts breaks', seconds: 0.5, result: 'failed', reason: 'one' },
      { name: 'a.test.ts waits', seconds: 0, result: 'skipped', reason: '' },
    ],
  ],
  [
    'pytest',
    '<testcase classname="tests.a" name="test_b[ATG]" time="1" /><testcase classname="tests.a" name="test_c" time="0">' +
      '<error message="no &quot;file&quot;&#10;more">x</error></testcase><testcase classname="tests.a" name="test_d[1]" time="0">' +
      '<skipped type="pytest.skip" message="no GPU">a.py:5: no GPU</skipped></testcase>',
    [
      { name: 'tests.a test_b[ATG]', seconds: 1, result: 'passed', reason: '' },
      { name: 'tests.a test_c', seconds: 0, result: 'failed', reason: 'no "file"' },
      { name: 'tests.a test_d[1]', seconds: 0, result: 'skipped', reason: 'no GPU' },
    ],
  ],
  [
    'Playwright',
    `<testcase name="opens" classname="a.spec.ts" time="2">
<system-out><![CDATA[<failure message="printed"></testcase>]]></system-out>
</testcase>
<testcase name="shows" classname="a.spec.ts">
<properties><property name="skip" value="no Electron">
</property></properties>
<skipped>
</skipped>
</testcase>`,
    [
      { name: 'a.spec.ts opens', seconds: 2, result: 'passed', reason: '' },
      { name: 'a.spec.ts shows', seconds: 0, result: 'skipped', reason: 'no Electron' },
    ],
  ],
])('reads the outcomes, durations and reasons of %s', (_runner, xml, tests) => {
  expect(readJunitReport(xml)).toEqual(tests);
});

it('counts the tests, names the slowest, and groups the skipped ones by reason', () => {
  const tests = [
    { name: 'a test[1]', seconds: 1, result: 'skipped', reason: 'no GPU' },
    { name: 'a test[2]', seconds: 61, result: 'skipped', reason: 'no GPU' },
    { name: 'b', seconds: 2, result: 'failed', reason: '' },
  ] as const;
  expect(describeCounts(tests)).toBe('0 passed, 1 failed, 2 skipped');
  expect(byReason(tests, 'skipped')).toEqual(['  no GPU:', '      a test']);
  expect(byReason(tests, 'failed')).toEqual([expect.any(String), '      b']);
  expect(slowestTests(tests, 2)).toEqual(['   61.0 s  a test[2]', '    2.0 s  b']);
});
