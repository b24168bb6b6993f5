import { expect, it } from 'vitest';
import { smallMultiplePath } from './SmallMultiple.tsx';

const frame = { begin: 0, end: 100, top: 10, width: 100, height: 12 };
const at = (time: number, value: number | null) => ({ time, value });

it('draws from the bottom to the top of the common scale, and no higher', () => {
  expect(smallMultiplePath([at(0, 0), at(50, 10), at(100, 20)], frame)).toBe('M0.0,12.0L50.0,2.0L100.0,2.0');
});

it('draws no line through a pause, or where nothing was measured', () => {
  const points = [at(0, 5), at(1, 5), at(2, 5), at(60, 5), at(61, 5)];
  expect(smallMultiplePath(points, frame).match(/M/g)).toHaveLength(2);
  expect(smallMultiplePath([at(0, 5), at(1, null), at(2, 5)], frame).match(/M/g)).toHaveLength(2);
});
