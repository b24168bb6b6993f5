/**
 * How long the program takes to show a history of finished runs, and how much memory: `npm run bench:start -- [runs]`, 1,000 unless said.
 * In brackets the time of the processor, of all threads. The threads are the operating system's, so Linux only.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineBase } from '../../engineBase.ts';
import { resolveAppPaths } from '../../environment/appPaths.ts';
import { testBundle } from '../../testing/testBundles.ts';
import { openService } from '../service.ts';
import { libraryOfRuns } from './manyRuns.ts';

const count = Number(process.argv[2] ?? 1000);
const paths = resolveAppPaths({ startFolder: import.meta.dirname });
if (!paths.ok) throw new Error(paths.error.cause);
const folder = await mkdtemp(join(tmpdir(), 'bench-start-'));
const storeHost = testBundle('storeHost.mjs', new URL('../../store/sqlite/hostEntry.ts', import.meta.url));
const dataDir = join(folder, 'data');
await libraryOfRuns({ dataDir, storeHost }, count);

const threads = async (): Promise<string> =>
  /Threads:\s*(\d+)/.exec(await readFile('/proc/self/status', 'utf8').catch(() => ''))?.[1] ?? 'unknown';
const before = await threads();
const start = performance.now();
const processorAtStart = process.cpuUsage();
const since = (): string => {
  const { user, system } = process.cpuUsage(processorAtStart);
  return `${(performance.now() - start).toFixed(0)} ms (${((user + system) / 1000).toFixed(0)} ms)`;
};
const base = engineBase({ appVersion: 'bench', paths: { ...paths.value, dataDir }, storeHost });
const service = await openService(base, { interpreter: join(folder, 'none') });
const opened = since();
const { value } = await service.list.watch().next();
const listed = since();
await service.catalog.close();
const looked = since();
process.stdout.write(
  `${value?.length ?? 0} runs: open after ${opened}, listed after ${listed}, ` +
    `folders looked at after ${looked}, ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB, ` +
    `threads ${before} -> ${await threads()}, readers open ${service.open.readerCount}\n`,
);
await service.close();
await rm(folder, { recursive: true });
