import { expect, it } from 'vitest';
import { curvesEvery } from './askingAgain.ts';

const MADE = '2026-01-01T00:00:00.000Z';
const DAY_S = 86_400;

/** Samples read for one device, which has one a second, by a window that shows a run from its start to this second. */
function samplesRead(seconds: number): number {
  const made = Date.parse(MADE);
  let read = 0;
  for (let now = 0; now < seconds; now += curvesEvery(MADE, made + 1000 * now) / 1000) read += now;
  return read;
}

it('queries the curves of a long run so rarely that 30 days of samples cost thirty times what one day does', () => {
  expect(curvesEvery(MADE, Date.parse(MADE) + 1000)).toBe(10_000);
  const ofADay = samplesRead(DAY_S);
  expect(samplesRead(30 * DAY_S) / ofADay).toBeLessThan(31);
  // Each sample is read a few hundred times; at a fixed interval of ten seconds it would be 130,000 times.
  expect(samplesRead(30 * DAY_S) / (30 * DAY_S)).toBeLessThan(400);
});
