import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../store/sqlite/database.ts';
import { readDeviceMeasures } from '../../store/sqlite/telemetry/runTimings.ts';
import { RUN_DATABASE } from '../../store/sqlite/runSchema.ts';
import { telemetryWriteMethods } from '../../store/sqlite/telemetry/telemetry.ts';
import type { DeviceSampleRow } from '../../store/types.ts';
import { deviceReports } from './runJson.ts';

function measured(samples: DeviceSampleRow[]) {
  const db = new Database(':memory:');
  migrate(db, RUN_DATABASE);
  telemetryWriteMethods(db).addSamples(samples);
  const measures = readDeviceMeasures(db);
  db.close();
  return measures;
}

const sample = (second: number, more: Partial<DeviceSampleRow> = {}): DeviceSampleRow => ({
  device: 'GPU-1',
  time: 1000 * second,
  utilizationPercent: 100,
  memoryUsedBytes: 8e9,
  powerW: 720,
  temperatureC: 60,
  residuesPerSecond: 1000,
  framesPerSecond: 10,
  ...more,
});

describe('measures of a device', () => {
  it('cover the computing time; energy covers all time except pauses', () => {
    const loading = { residuesPerSecond: null, framesPerSecond: null, utilizationPercent: 0, powerW: 360 };
    const [gpu] = measured([
      ...Array.from({ length: 10 }, (_, second) => sample(second, loading)),
      ...Array.from({ length: 51 }, (_, second) => sample(10 + second)),
      // The run was paused for an hour.
      sample(3700, { memoryUsedBytes: 9e9 }),
      sample(3701, { utilizationPercent: 40 }),
    ]);
    expect(gpu).toMatchObject({ utilizationMedianPercent: 100, powerMeanW: 720, memoryPeakBytes: 9e9 });
    expect(gpu?.utilizationMeanPercent).toBeCloseTo((52 * 100 + 40) / 53, 9);
    // 9 s of 360 W, 51 s and 1 s of 720 W.
    expect(gpu?.energyWh).toBeCloseTo((9 * 360 + 52 * 720) / 3600, 9);
  });

  it('equal a plain calculation', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 40 }), (values) => {
        const [gpu] = measured(values.map((value, second) => sample(second, { utilizationPercent: value })));
        const sorted = values.toSorted((a, b) => a - b);
        expect(gpu?.utilizationMedianPercent).toBe(sorted[Math.ceil(values.length / 2) - 1]);
        expect(gpu?.utilizationMeanPercent).toBeCloseTo(
          values.reduce((sum, value) => sum + value, 0) / values.length,
          9,
        );
      }),
    );
  });
});

describe('deviceReports', () => {
  it('reports how long each device computed, even if it did nothing', () => {
    const device = (id: string) =>
      ({ id, name: 'H200', kind: 'cuda', facts: {}, switchedOff: null }) as const;
    const work = { device: 'a', parts: 3, frames: 30, residues: 9000, seconds: 45 };
    const done = [work];
    const [busy, idle] = deviceReports([device('a'), device('b')], done, [], { workingMilliseconds: 60_000 });
    expect(busy).toMatchObject({ residues_per_second: 200, busy_share: 0.75, power_mean_w: null });
    expect(idle).toMatchObject({ parts: 0, residues_per_second: null, busy_share: 0 });
    // Both times are too short to tell.
    expect([busy?.kept_busy, idle?.kept_busy]).toEqual([null, null]);
    const long = { workingMilliseconds: 3_600_000 };
    const shares = [2_879, 2_880].map((seconds) =>
      deviceReports([device('a')], [{ ...work, seconds }], [], long),
    );
    expect(shares.map(([report]) => report?.kept_busy)).toEqual([false, true]);
  });

  it("counts a cluster's device only for the time that it was present", () => {
    const late = {
      id: 'GPU-1',
      name: 'H200',
      kind: 'cuda',
      facts: { node: 'node1' },
      switchedOff: null,
    } as const;
    const work = [{ device: 'GPU-1', parts: 3, frames: 30, residues: 9000, seconds: 1080 }];
    // It was present for the first 600 s and the last 600 s of an hour.
    const there = [0, 3000].flatMap((from) =>
      Array.from({ length: 601 }, (_, second) => sample(from + second)),
    );
    const hour = { workingMilliseconds: 3_600_000 };
    const [report] = deviceReports([late], work, measured(there), hour);
    expect(report).toMatchObject({ busy_share: 0.9, kept_busy: true });
    const [here] = deviceReports([{ ...late, facts: {} }], work, measured(there), hour);
    expect(here).toMatchObject({ busy_share: 0.3, kept_busy: false });
  });
});
