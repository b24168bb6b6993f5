import { afterAll, expect, it } from 'vitest';
import { preparedRun, removeFolders } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import type { DeviceSampleRow } from '../../store/types.ts';
import { deviceHistoryOf } from './deviceHistory.ts';

afterAll(removeFolders);

const DEVICE = { id: 'GPU-1', name: 'NVIDIA H200', kind: 'cuda', facts: {}, switchedOff: null } as const;

const sample = (second: number, more: Partial<DeviceSampleRow> = {}): DeviceSampleRow => ({
  device: DEVICE.id,
  time: 1000 * second,
  utilizationPercent: 80,
  memoryUsedBytes: 8e9,
  powerW: null,
  temperatureC: 60,
  residuesPerSecond: 1000,
  framesPerSecond: 10,
  ...more,
});

it('draws a device over a run in few points, with means, gaps for pauses, and nothing for sensors it lacks', async () => {
  const { store } = await preparedRun([[recordOf('a', [1, 2])]]);
  await store.saveDevices([DEVICE]);
  // An hour at work, an hour of a pause, an hour at work again.
  const at = (second: number) => sample(second, { utilizationPercent: second % 2 === 0 ? 60 : 100 });
  const hour = Array.from({ length: 3600 }, (_, second) => second);
  await store.addSamples([...hour.map(at), ...hour.map((second) => at(7200 + second))]);
  const [history] = await deviceHistoryOf(store);
  await store.close();
  const points = history?.points ?? [];
  expect(points.length).toBeLessThanOrEqual(120);
  expect(points.length).toBeGreaterThan(60);
  expect(points.filter(({ time }) => time > 3600 && time < 7100)).toEqual([]);
  for (const point of points) {
    expect(point.utilizationPercent).toBeCloseTo(80, 0);
    expect(point.powerW).toBeNull();
  }
  expect(history).toMatchObject({ memoryPeakBytes: 8e9, energyWh: null, slowerThan: null });
});
