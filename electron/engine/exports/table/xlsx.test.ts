import { expect, it } from 'vitest';
import { escaped } from './xlsx.ts';

it('keeps a name that looks like a character escape', () => {
  expect(escaped('a_x0041_x0042_b')).toBe('a_x005F_x0041_x005F_x0042_b');
  expect(escaped('read_x12_1')).toBe('read_x12_1');
});

it('writes nothing that XML does not allow, and keeps what it does', () => {
  expect(escaped('<a href="x">&\u0000\u001f\ufffe\ud800b\udc00\ud83e\udda0\t\n')).toBe(
    '&lt;a href=&quot;x&quot;&gt;&amp;\ufffd\ufffd\ufffd\ufffdb\ufffd\ud83e\udda0\t\n',
  );
});
