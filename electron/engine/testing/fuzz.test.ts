import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('reads any input without failing', () => {
  expect(fuzz(20, 20_261_122).schemas).toBeGreaterThan(30);
});
