import { expect, it, vi } from 'vitest';
import { inTodaysNames } from './formerCommands.ts';

const today = (...words: string[]) => inTodaysNames(['node', 'main', ...words]).slice(2);

it('takes the commands of earlier versions and of the original tool, says what they are now, and leaves all others as they are', () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(today('report', 'out', '--list', 'virus')).toEqual(
    'export --format report out --list virus'.split(' '),
  );
  expect(today('-v', '--log-file', 'verify', 'verify', 'devices')).toEqual(
    '-v --log-file verify status --verify devices'.split(' '),
  );
  expect(said).toHaveBeenCalledTimes(2);
  expect(today('controls', '-q')).toEqual(['check', 'controls', '-q']);
  expect(said).toHaveBeenCalledTimes(2);
  expect(today('utils', 'validate', 'a.fa', '-e', '500', '-q')).toEqual('validate a.fa -e 500 -q'.split(' '));
  expect(() => today('-v', 'utils', 'generate-config')).toThrow(/no "virnucpro utils generate-config"/);
  for (const words of [['status', 'report'], ['--help'], [], ['constructor'], ['utils']])
    expect(today(...words)).toEqual(words);
  expect(() => today('computers', 'list')).toThrow(/no "virnucpro computers" any more/);
});
