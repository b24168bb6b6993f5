/**
 * What a window asks of a run of many days, with a sample of its device every second: `npm run bench:samples -- [days]`, 30 unless said.
 * In milliseconds of the processor, of all threads, so that it can be repeated beside other work.
 */
import { preparedRun, removeFolders } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { deviceHistoryOf } from '../questions/deviceHistory.ts';
import { throughputOf } from '../questions/throughput.ts';

const SECONDS_A_DAY = 86_400;
const AT_ONCE = 10_000;
const DEVICE = { id: 'GPU-1', name: 'NVIDIA H200', kind: 'cuda', facts: {}, switchedOff: null } as const;

const days = Number(process.argv[2] ?? 30);
const { store } = await preparedRun([[recordOf('a', [1, 2])]]);

async function addSamples(from: number, count: number): Promise<void> {
  await store.addSamples(
    Array.from({ length: count }, (_, second) => ({
      device: DEVICE.id,
      time: 1000 * (from + second),
      utilizationPercent: 90 + ((from + second) % 10),
      memoryUsedBytes: 8e9,
      powerW: 600,
      temperatureC: 60,
      residuesPerSecond: 100_000,
      framesPerSecond: 2_500,
    })),
  );
}

async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`  ${what}: ${((user + system) / 1000).toFixed(0)} ms\n`);
}

try {
  await store.saveDevices([DEVICE]);
  let seconds = 0;
  for (const day of [1, days]) {
    for (; seconds < day * SECONDS_A_DAY; seconds += AT_ONCE) await addSamples(seconds, AT_ONCE);
    process.stdout.write(`${day} days\n`);
    await measure('a second of samples', () => addSamples(seconds, 1));
    await measure('newest events', () => store.pageEvents(100));
    await measure('curve of the speed', () => throughputOf(store));
    await measure('curves and sums of the device', () => deviceHistoryOf(store));
    process.stdout.write(`  ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB of memory\n`);
  }
} finally {
  await store.close();
  removeFolders();
}
