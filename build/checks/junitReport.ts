/** Reads the JUnit reports of Vitest, pytest and Playwright: which tests passed, how long each took, why some failed. */
import { stripVTControlCharacters } from 'node:util';

export interface TestOutcome {
  readonly name: string;
  readonly seconds: number;
  readonly result: 'passed' | 'failed' | 'skipped';
  /** The first line of why it failed or was skipped; empty if the report has no reason, as Vitest's for skipped tests. */
  readonly reason: string;
}

export function readJunitReport(xml: string): TestOutcome[] {
  const withoutOutput = xml.replaceAll(/<!\[CDATA\[[^]*?\]\]>/g, '');
  return [...withoutOutput.matchAll(/<testcase\s([^>]*?)(?:\/>|>([^]*?)<\/testcase>)/g)].map(
    ([, tag = '', content = '']) => {
      const { classname = '', name = '', time } = attributes(tag);
      const failure = /<(?:failure|error)\s([^>]*)>/.exec(content)?.[1];
      const skipped = /<skipped\b([^>]*)>/.exec(content)?.[1];
      // Playwright writes the reason as a property of the test.
      const property = /<property name="skip" (value="[^"]*")/.exec(content)?.[1] ?? '';
      const reason = attributes(failure ?? skipped ?? '')['message'] ?? attributes(property)['value'] ?? '';
      return {
        name: `${classname} ${name}`,
        seconds: Number(time ?? 0),
        result: failure !== undefined ? 'failed' : skipped !== undefined ? 'skipped' : 'passed',
        reason: stripVTControlCharacters(reason).trim().split(/\r?\n/)[0] ?? '',
      };
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
  '#10': '\n',
};

function attributes(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) =>
        [name, value.replaceAll(/&(#?\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole)] as const,
    ),
  );
}

export function describeCounts(tests: readonly TestOutcome[]): string {
  return (['passed', 'failed', 'skipped'] as const)
    .map((result) => `${tests.filter((test) => test.result === result).length} ${result}`)
    .join(', ');
}

/**
 * The tests with this result by reason, as lines to print; tests with the same name and different parameters
 * appear once.
 */
export function byReason(tests: readonly TestOutcome[], result: TestOutcome['result']): string[] {
  const reasons = Map.groupBy(
    tests.filter((test) => test.result === result),
    ({ reason }) => reason || 'without a reason in the report',
  );
  return [...reasons].flatMap(([reason, these]) => [
    `  ${reason}:`,
    ...new Set(these.map(({ name }) => `      ${name.replace(/\[.*\]$/, '')}`)),
  ]);
}

/** The slowest tests, slowest first, as lines to print. */
export function slowestTests(tests: readonly TestOutcome[], count: number): string[] {
  return tests
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
}
