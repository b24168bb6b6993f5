import { describe, expect, it } from 'vitest';
import { describeImbalance } from './remarks.ts';

const device = (id: string, name: string) =>
  ({ id, name, kind: 'cuda', facts: {}, switchedOff: null }) as const;
const done = (id: string, residues: number) => ({
  device: id,
  parts: 20,
  frames: 1,
  residues,
  seconds: 10,
});

describe('describeImbalance', () => {
  it('names the slow device among equal ones, from a fifth on', () => {
    const devices = [device('a', 'H200'), device('b', 'H200'), device('c', 'H200')];
    const words = describeImbalance(devices, [done('a', 1000), done('b', 790), done('c', 900)]);
    expect(words?.text).toContain('b was 21 % slower than a');
    expect(describeImbalance(devices, [done('a', 1000), done('b', 810), done('c', 900)])).toBeNull();
  });

  it('ignores differences between kinds of devices, and idle devices', () => {
    const devices = [device('a', 'H200'), device('b', 'L4'), device('c', 'L4')];
    expect(describeImbalance(devices, [done('a', 1000), done('b', 100)])).toBeNull();
  });
});
