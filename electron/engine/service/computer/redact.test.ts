import { describe, expect, it } from 'vitest';
import { redact } from './diagnostics.ts';

const facts = { homeFolder: '/home/mschmidt', userName: 'mschmidt', hostName: 'lab-gpu7' };

describe('redact', () => {
  it.each([
    ['/home/mschmidt/data/a.fa', '~/data/a.fa'],
    ['"/home/mschmidt"', '"~"'],
    ['/home/other/data', '/home/<user>/data'],
    ['/Users/Jane Doe/x', '/Users/<user> Doe/x'],
    ['C:\\Users\\eva\\AppData', 'C:\\Users\\<user>\\AppData'],
    ['run by MSchmidt on LAB-GPU7', 'run by <user> on <host>'],
    ['lab-gpu70 stays', 'lab-gpu70 stays'],
  ])('%s -> %s', (text, expected) => {
    expect(redact(text, facts)).toBe(expected);
  });

  it('leaves words alone that merely contain a very short user name', () => {
    expect(redact('an ordinary sentence', { homeFolder: '/root', userName: 'an', hostName: '' })).toBe(
      'an ordinary sentence',
    );
  });
});
