import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

it('reads whatever it is sent without failing', () => {
  expect(fuzz(20, 20_261_122).schemas).toBeGreaterThan(30);
});
