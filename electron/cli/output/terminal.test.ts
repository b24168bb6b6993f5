import { expect, it } from 'vitest';
import { printable } from './terminal.ts';

it('replaces terminal control characters, and leaves everything else', () => {
  expect(printable('\u001b[2Jcontig\u0007\u009b31m\u202e.fa\r')).toBe('?[2Jcontig??31m?.fa?');
  expect(printable('Größe\t1\n🧬 µ “ok”')).toBe('Größe\t1\n🧬 µ “ok”');
});
