import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { runRequestSchema } from '../../contract/rpc/runs.ts';
import { engineBase } from '../run/engineContext.ts';
import { openRunStore } from '../store/runStore.ts';
import { StoreThread } from '../store/storeThread.ts';
import { HOST_ENTRY } from '../store/testing/storeFixture.ts';
import { DESCRIPTION, syntheticPlan } from '../store/testing/syntheticRun.ts';
import { APP_PATHS } from '../testing/realFiles.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
import { listRun } from './runs/runSummary.ts';
import { openService, type Service } from './service.ts';
import { libraryOfRuns } from './testing/manyRuns.ts';

const REQUEST = runRequestSchema.parse({ inputs: ['/data/a.fa'] });
let service: Service | undefined;
afterEach(() => service?.close());

async function open(dataDir: string): Promise<Service> {
  const paths = { ...APP_PATHS, dataDir };
  const base = engineBase({ appVersion: 'test', paths, storeHost: HOST_ENTRY });
  service = await openService(base, { interpreter: join(dataDir, 'none') });
  return service;
}

async function finishedRun(folder: string): Promise<string> {
  const description = { ...DESCRIPTION, runId: randomUUID(), options: { request: REQUEST } };
  const create = { plan: syntheticPlan(1), description };
  await (await openRunStore(folder, { hostEntry: HOST_ENTRY, create })).close();
  return description.runId;
}

it('makes as many library queries for a history of a thousand runs as for ten, and lists it in one message', async () => {
  const asked: string[][] = [];
  for (const count of [10, 1000]) {
    const dataDir = join(temporaryFolder(), 'data');
    await libraryOfRuns({ dataDir, storeHost: HOST_ENTRY }, count);
    const call = vi.spyOn(StoreThread.prototype, 'call');
    const { list, close } = await open(dataDir);
    const { value } = await list.watch().next();
    expect(value).toHaveLength(count);
    asked.push(call.mock.calls.map(([method]) => method));
    call.mockRestore();
    await close();
  }
  expect(asked[1]).toEqual(asked[0]);
  expect(asked[1]?.filter((method) => method === 'history')).toHaveLength(1);
});

it('has at most four databases open for reading, and none after closing', async () => {
  const parent = temporaryFolder();
  const folders = Array.from({ length: 10 }, (_, number) => join(parent, String(number)));
  const [first = '', ...copies] = folders;
  await finishedRun(first);
  for (const copy of copies) await cp(first, copy, { recursive: true });
  const { open: openRuns, close } = await open(join(parent, 'data'));
  let most = 0;
  const names = await Promise.all(
    [...folders, ...folders].map((folder) =>
      openRuns.read(folder, async (store) => {
        most = Math.max(most, openRuns.readerCount);
        await store.counts();
        return store.folder;
      }),
    ),
  );
  expect(names).toEqual([...folders, ...folders]);
  expect(most).toBe(4);
  const late = folders.map((folder) => openRuns.read(folder, (store) => store.counts()));
  await Promise.all([close(), Promise.allSettled(late)]);
  expect(openRuns.readerCount).toBe(0);
  await expect(openRuns.read(folders[0] ?? '', (store) => store.counts())).rejects.toMatchObject({
    error: { code: 'usage' },
  });
});

it('lists a run of the command line, also one that is started while the program runs', async () => {
  const parent = temporaryFolder();
  const dataDir = join(parent, 'data');
  const program = { paths: { ...APP_PATHS, dataDir }, storeHost: HOST_ENTRY };
  const list = async (name: string): Promise<string> => {
    const folder = join(parent, name);
    const runId = await finishedRun(folder);
    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
    await listRun(program, store);
    await store.close();
    return runId;
  };
  const before = await list('before');
  const { catalog } = await open(dataDir);
  expect(catalog.all().map(({ runId }) => runId)).toEqual([before]);
  const after = await list('after');
  await catalog.takeOthers();
  expect(catalog.find(after)).toMatchObject({ folder: join(parent, 'after'), state: { phase: 'created' } });
  // It grants a window only what a window named.
  expect(catalog.namedPaths()).toEqual([]);
});

/** For a longer manual test: VIRNUCPRO_QUITS=200 */
const QUITS = Number(process.env['VIRNUCPRO_QUITS'] ?? 4);

it(`quits ${QUITS} times while a run is watched, and never by a signal`, async () => {
  const parent = temporaryFolder();
  await finishedRun(join(parent, 'run'));
  const script = join(import.meta.dirname, 'testing', 'startAndQuit.ts');
  const quits = Array.from({ length: QUITS }, (_, number) => number).values();
  const ends: unknown[] = [];
  const some = async (lane: number): Promise<void> => {
    for (const number of quits) {
      // From before the first snapshot to long after it.
      const args = [script, join(parent, `data ${lane}`), join(parent, 'run'), String((number * 37) % 400)];
      const outcome = await promisify(execFile)(process.execPath, args).then(
        () => 'ended',
        (reason: unknown) => reason,
      );
      ends.push(outcome);
    }
  };
  await Promise.all([some(1), some(2)]);
  expect(ends).toEqual(Array<string>(QUITS).fill('ended'));
});
