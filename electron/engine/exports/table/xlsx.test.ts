import { expect, it } from 'vitest';
import { escaped } from './xlsx.ts';

it('keeps a name that looks like a character escape', () => {
  expect(escaped('a_x0041_x0042_b')).toBe('a_x005F_x0041_x005F_x0042_b');
  expect(escaped('read_x12_1')).toBe('read_x12_1');
});
