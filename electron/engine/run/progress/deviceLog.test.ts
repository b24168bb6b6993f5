import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../testing/testContext.ts';
import { DeviceLog } from './deviceMonitor.ts';
import { RunLog } from '../runNotes.ts';

const row = (device: string, measured: number | null, residuesPerSecond: number | null) => ({
  time: 0,
  device,
  utilizationPercent: measured,
  memoryUsedBytes: measured === null ? 3e9 : 8e9,
  powerW: measured === null ? null : 7 * measured,
  temperatureC: null,
  residuesPerSecond,
  framesPerSecond: null,
});

const computer = { cpu_percent: 50, memory_used_bytes: 12e9 };

describe('the log of a run', () => {
  it('has a line per device and minute, and one for the remaining samples at the end', async () => {
    const folder = temporaryFolder();
    const log = new RunLog(folder);
    const devices = new DeviceLog(log, (id) => (id === 'GPU-1' ? 'H200' : 'EPYC'));
    const logged = Array.from({ length: 91 }, (_, second) =>
      devices.take(
        [row('GPU-1', 100, second < 30 ? 0 : 100_000), row('cpu:0', null, null)],
        computer,
        1000 * second,
      ),
    );
    expect(logged.flatMap((written, second) => (written ? [second] : []))).toEqual([60]);
    devices.write(90_000);
    log.line('warning', 'Two\n  lines', 91_000);
    await log.written();
    expect((await readFile(join(folder, 'logs', 'run.log'), 'utf8')).split('\n')).toEqual([
      '1970-01-01T00:01:00.000Z info H200 (GPU-1), 1 min: 50,820 residues/s, 100 % busy, 7.5 GB, 700 W',
      '1970-01-01T00:01:00.000Z info EPYC (cpu:0), 1 min: 2.8 GB',
      '1970-01-01T00:01:00.000Z info The computer, with all its programs: 50 % busy, 11.2 GB',
      '1970-01-01T00:01:30.000Z info H200 (GPU-1), 29 sec: 100,000 residues/s, 100 % busy, 7.5 GB, 700 W',
      '1970-01-01T00:01:30.000Z info EPYC (cpu:0), 29 sec: 2.8 GB',
      '1970-01-01T00:01:30.000Z info The computer, with all its programs: 50 % busy, 11.2 GB',
      '1970-01-01T00:01:31.000Z warning Two lines',
      '',
    ]);
  });
});
