import { describe, expect, it } from 'vitest';
import type { RunLive } from '../../electron/contract/index.ts';
import { madeDevices, madeEvents } from '../testing/memoryEngine/runDetails.ts';
import { madeRun } from '../testing/memoryEngine/runs.ts';
import { withStableParts } from './stableSnapshot.ts';

const RUN_ID = '11111111-1111-4111-8111-111111111111';
const snapshot = (change: Partial<RunLive> = {}): RunLive => ({
  run: madeRun({ runId: RUN_ID, name: 'a', state: { phase: 'running' } }, 0),
  progress: {} as RunLive['progress'],
  devices: madeDevices(3),
  recentEvents: madeEvents(0),
  ...change,
});

describe('snapshots that follow each other', () => {
  it('keep the objects of what has not changed', () => {
    const before = snapshot();
    const [first, ...others] = madeDevices(3);
    if (!first) throw new Error('The test needs a device');
    const now = withStableParts(before, snapshot({ devices: [{ ...first, powerW: 1 }, ...others] }));
    expect(now.run).toBe(before.run);
    expect(now.recentEvents).toBe(before.recentEvents);
    expect(now.devices[0]?.powerW).toBe(1);
    expect(now.devices[1]).toBe(before.devices[1]);
  });

  it('let go of what has', () => {
    const before = snapshot();
    const paused = { ...snapshot().run, state: { phase: 'paused' as const, error: null } };
    expect(withStableParts(before, snapshot({ run: paused })).run).toBe(paused);
    const events = madeEvents(0).slice(0, -1);
    expect(withStableParts(before, snapshot({ recentEvents: events })).recentEvents).toBe(events);
  });

  it('never mix runs', () => {
    const other = snapshot({ run: { ...snapshot().run, runId: '22222222-2222-4222-8222-222222222222' } });
    expect(withStableParts(snapshot(), other)).toBe(other);
    expect(withStableParts(null, other)).toBe(other);
  });
});
