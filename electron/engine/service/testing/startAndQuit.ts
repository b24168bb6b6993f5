/** Starts the service, watches a run as a window does, and quits after a while: node startAndQuit.ts DATA RUN MILLISECONDS */
import { setTimeout as sleep } from 'node:timers/promises';
import { engineBase } from '../../run/engineContext.ts';
import { resolveAppPaths } from '../../environment/appPaths.ts';
import { testBundle } from '../../testing/testBundles.ts';
import { openService } from '../service.ts';

const [dataDir = '', folder = '', milliseconds = '0'] = process.argv.slice(2);
const paths = resolveAppPaths({ startFolder: import.meta.dirname });
if (!paths.ok) throw new Error(paths.error.cause);
const storeHost = testBundle('storeHost.mjs', new URL('../../store/hostEntry.ts', import.meta.url));
const base = engineBase({ appVersion: 'test', paths: { ...paths.value, dataDir }, storeHost });
const service = await openService(base, { interpreter: '/nowhere/python' });
const { runId } = await service.catalog.add(folder);

const watching = [service.watch.watch(runId), service.list.watch()].map(async (stream) => {
  while (!(await stream.next()).done) service.watch.changed(runId);
});
// Windows make these calls until the end, and after it.
const asking = setInterval(() => {
  void service.open.read(folder, (store) => store.counts()).catch(() => undefined);
}, 1);
await sleep(Number(milliseconds));
const ended = await service.close();
clearInterval(asking);
await Promise.all(watching);
if (!ended || service.open.readerCount > 0) throw new Error('Something had not ended.');
// This happens at the end of the command line or of Electron: whatever still runs is terminated now.
process.exit(0);
