import { describe, expect, it } from 'vitest';
import type { RunDevice } from '../../store/types.ts';
import { describeImbalance } from './remarks.ts';

const device = (id: string, name: string, kind: RunDevice['kind'] = 'cuda'): RunDevice => ({
  id,
  name,
  kind,
  facts: {},
  switchedOff: null,
});
const done = (id: string, residues: number, seconds = 60) => ({
  device: id,
  parts: 20,
  frames: 1,
  residues,
  seconds,
});

describe('describeImbalance', () => {
  it('ignores differences between kinds of devices, and idle devices', () => {
    const devices = [device('a', 'H200'), device('b', 'L4'), device('c', 'L4')];
    expect(describeImbalance(devices, [done('a', 1000), done('b', 100)])).toBeNull();
  });

  it('waits until each has computed for a minute', () => {
    const devices = [device('a', 'H200'), device('b', 'H200')];
    expect(describeImbalance(devices, [done('a', 1000), done('b', 500, 59)])).toBeNull();
    expect(describeImbalance(devices, [done('a', 1000), done('b', 500)])).not.toBeNull();
  });

  it('says nothing of the workers of a processor, which share its cores with other programs', () => {
    const devices = [device('cpu:0', 'Ryzen 7', 'cpu'), device('cpu:1', 'Ryzen 7', 'cpu')];
    expect(describeImbalance(devices, [done('cpu:0', 1000, 600), done('cpu:1', 100, 600)])).toBeNull();
  });
});
