import { expect, it, vi } from 'vitest';
import { preparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import type { DeviceSampleRow } from '../../store/types.ts';
import { StoreThread } from '../../store/storeThread.ts';
import { deviceHistoryOf } from './deviceHistory.ts';
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

it('shows a device over a run in few points, with means, gaps for pauses, and nothing for missing sensors', async () => {
  const { store } = await preparedRun([[recordOf('a', [1, 2])]]);
  await store.saveDevices([DEVICE]);
  // An hour of computing, an hour of a pause, an hour of computing.
  const at = (second: number) => sample(second, { utilizationPercent: second % 2 === 0 ? 60 : 100 });
  const hour = Array.from({ length: 3600 }, (_, second) => second);
  await store.addSamples([...hour.map(at), ...hour.map((second) => at(7200 + second))]);
  const [history] = await deviceHistoryOf(store);
  await store.close();
  const points = history?.points ?? [];
  expect(points.length).toBeLessThanOrEqual(240);
  expect(points.length).toBeGreaterThan(120);
  expect(points.filter(({ time }) => time > 3600 && time < 7100)).toEqual([]);
  for (const point of points) {
    expect(point.utilizationPercent).toBeCloseTo(80, 0);
    expect(point).toMatchObject({ memoryUsedBytes: 8e9, powerW: null, temperatureC: 60 });
  }
  expect(history).toMatchObject({ memoryPeakBytes: 8e9, energyWh: null, slowerThan: null });
});

it('gives the points of devices that came and went at the same times', async () => {
  const { store } = await preparedRun([[recordOf('a', [1, 2])]]);
  await store.saveDevices([DEVICE, { ...DEVICE, id: 'GPU-2' }]);
  const seconds = Array.from({ length: 1000 }, (_, second) => second);
  await store.addSamples(seconds.map((second) => sample(second)));
  await store.addSamples(seconds.slice(333, 700).map((second) => sample(second, { device: 'GPU-2' })));
  const [first, second] = await deviceHistoryOf(store);
  await store.close();
  const times = new Set(first?.points.map(({ time }) => time));
  expect(second?.points.length).toBeGreaterThan(60);
  expect(second?.points.every(({ time }) => times.has(time))).toBe(true);
});

it('transfers no more of a run of 30 days than of one of a day', async () => {
  const { store } = await preparedRun([[recordOf('a', [1, 2])]]);
  await store.saveDevices([DEVICE]);
  const call = vi.spyOn(StoreThread.prototype, 'call');
  /** The rows that each query transferred. */
  const work: number[][] = [];
  let from = 0;
  // A sample a minute, so that the test is short; those of a real run come every second.
  for (const days of [1, 30]) {
    const minutes = Array.from({ length: days * 1440 - from }, (_, minute) => from + minute);
    await store.addSamples(minutes.map((minute) => sample(60 * minute, { residuesPerSecond: minute })));
    from = days * 1440;
    call.mockClear();
    const [history] = await deviceHistoryOf(store);
    expect(history?.points).toHaveLength(240);
    expect(history?.points.at(-1)?.residuesPerSecond).toBeGreaterThan(from * 0.996);
    work.push(call.mock.settledResults.map(({ value }) => (Array.isArray(value) ? value.length : 1)));
  }
  await store.close();
  call.mockRestore();
  expect(work[0]).not.toEqual([]);
  expect(work[1]).toEqual(work[0]);
});
