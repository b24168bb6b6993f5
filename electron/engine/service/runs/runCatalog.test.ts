import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import type { HistoryEntry } from '../../store/types.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { syntheticSummary } from '../testing/manyRuns.ts';
import type { OpenRuns } from './openRuns.ts';
import { RunCatalog } from './runCatalog.ts';
import { libraryEntry } from './runSummary.ts';

const DONE = { phase: 'done', failedParts: 0, failedRecords: 0 } as const;

/** What happens at the same time: another program lists a run, or a window asks for what others have listed. */
const happening = fc.oneof(
  fc.record({ what: fc.constant('listed'), readable: fc.boolean(), ended: fc.boolean() }),
  fc.record({ what: fc.constant('asked') }),
);

it('has every run on the list that another program had listed before it was asked, however many ask at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(happening, { minLength: 1, maxLength: 12 }),
      async (scheduler, happenings) => {
        const listed: RunSummary[] = [];
        const readable = new Set<string>();
        let seen = 0;
        const library = {
          historyChangedElsewhere: scheduler.scheduleFunction(() => {
            const isChanged = listed.length > seen;
            seen = listed.length;
            return Promise.resolve(isChanged ? listed.map((run) => libraryEntry(run, [])) : null);
          }),
          saveRun: scheduler.scheduleFunction(() => Promise.resolve()),
        };
        const open = {
          session: () => undefined,
          read: scheduler.scheduleFunction((folder: string) => {
            const run = listed.find((one) => one.folder === folder);
            return run && readable.has(folder)
              ? Promise.resolve(run)
              : Promise.reject(new Error('unreadable'));
          }),
        };
        const catalog = new RunCatalog(library as unknown as LibraryStore, open as unknown as OpenRuns);
        const missed: string[] = [];
        const ask = async (): Promise<void> => {
          const before = listed.map(({ runId }) => runId);
          await catalog.takeOthers();
          missed.push(...before.filter((runId) => !catalog.has(runId)));
        };
        const asked: Promise<void>[] = [];
        const { task } = scheduler.scheduleSequence(
          happenings.map((one) => () => {
            if (one.what === 'asked') {
              asked.push(ask());
            } else {
              const run = syntheticSummary(`/runs/${listed.length}`, listed.length);
              if ('readable' in one && one.readable) readable.add(run.folder);
              listed.push('ended' in one && one.ended ? run : { ...run, state: { phase: 'running' } });
            }
            return Promise.resolve();
          }),
        );
        await scheduler.waitFor(task.then(() => Promise.all(asked)));
        expect(missed).toEqual([]);
      },
    ),
  );
});

afterEach(() => vi.useRealTimers());

const GONE = appError('folder_unreadable', 'The disk does not answer.');
const PAUSED = { phase: 'paused', error: null } as const;

/** Runs in folders with an empty database, and a list whose calls are counted. */
function made(states: readonly RunSummary['state'][]) {
  const parent = temporaryFolder();
  const runs = states.map((state, number) => {
    const folder = join(parent, String(number));
    mkdirSync(folder);
    writeFileSync(join(folder, RUN_DATABASE), '');
    return { ...syntheticSummary(folder, number), state };
  });
  const inFolders = new Map(runs.map((run) => [run.folder, run as RunSummary | AppFailure]));
  const library = {
    history: vi.fn(() =>
      Promise.resolve<HistoryEntry[]>(runs.map((run, number) => libraryEntry(run, [`/data/${number}.fa`]))),
    ),
    historyChangedElsewhere: vi.fn(() => Promise.resolve<HistoryEntry[] | null>(null)),
    saveRun: vi.fn<(entry: HistoryEntry) => Promise<void>>(() => Promise.resolve()),
    removeRun: vi.fn<(runId: string) => Promise<void>>(() => Promise.resolve()),
  };
  const open = {
    session: vi.fn<(folder: string) => unknown>(() => undefined),
    closeReader: vi.fn<(folder: string) => Promise<void>>(() => Promise.resolve()),
    read: vi.fn((folder: string) => {
      const found = inFolders.get(folder);
      return found && !(found instanceof AppFailure)
        ? Promise.resolve(found)
        : Promise.reject(found ?? new Error(folder));
    }),
  };
  const catalog = new RunCatalog(library as unknown as LibraryStore, open as unknown as OpenRuns);
  const told = vi.fn();
  catalog.changes.add(told);
  return { runs, inFolders, library, open, catalog, told };
}

it('lists at once what the library says, newest first, without a look at any folder', async () => {
  const { runs, library, open, catalog, told } = made([DONE, { phase: 'running' }, PAUSED]);
  const [first, second, third] = runs as [RunSummary, RunSummary, RunSummary];
  const entries = await library.history();
  library.history.mockResolvedValue([
    ...entries,
    { ...entries[0], runId: 'of another version', summary: {} } as unknown as HistoryEntry,
  ]);
  await catalog.load();
  expect(catalog.all()).toEqual([third, { ...second, interrupted: true }, first]);
  expect(catalog.namedPaths()).toEqual(['/data/0.fa', '/data/1.fa', '/data/2.fa']);
  expect([catalog.in(second.folder)?.runId, catalog.in('/elsewhere')]).toEqual([second.runId, undefined]);
  expect([open.read.mock.calls, told.mock.calls.length]).toEqual([[], 3]);
  await catalog.forget(first.runId);
  expect([catalog.has(first.runId), library.removeRun.mock.calls]).toEqual([false, [[first.runId]]]);
  expect([catalog.namedPaths().length, told.mock.calls.length]).toEqual([2, 4]);
  expect(() => catalog.find(first.runId)).toThrow(
    expect.objectContaining({
      error: expect.objectContaining({ code: 'folder_not_a_run' }) as unknown,
    }) as Error,
  );
});

it('looks in the background for folders that are gone, and reads runs that have not ended, then those of others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { runs, inFolders, library, open, catalog } = made([
    ...[DONE, DONE, PAUSED, PAUSED, PAUSED, PAUSED, PAUSED],
  ]);
  const [there, gone, resumed, unreadable, replaced, same, lost] = runs as [RunSummary, ...RunSummary[]];
  await catalog.load();
  for (const run of [gone, lost]) rmSync(run?.folder ?? '', { recursive: true });
  inFolders.set(resumed?.folder ?? '', { ...(resumed as RunSummary), state: DONE });
  inFolders.set(unreadable?.folder ?? '', new AppFailure(GONE));
  inFolders.set(replaced?.folder ?? '', { ...(replaced as RunSummary), runId: 'another' });
  catalog.checkAll();
  await vi.waitUntil(() => vi.getTimerCount() === 1);
  const state = (run: RunSummary | undefined) => {
    const { state: is, missing } = catalog.find(run?.runId ?? '');
    return [is, missing];
  };
  expect([there, gone, resumed, unreadable, replaced, same, lost].map(state)).toEqual([
    [DONE, false],
    [DONE, true],
    [DONE, false],
    [{ phase: 'failed', error: GONE }, false],
    [PAUSED, true],
    [PAUSED, false],
    [PAUSED, true],
  ]);
  // What is as it was needs no storing.
  expect(library.saveRun.mock.calls.map(([{ runId, inputs }]) => [runId, inputs]).toSorted()).toEqual(
    [gone, resumed, unreadable, replaced, lost]
      .map((run) => [run?.runId, [`/data/${runs.indexOf(run as RunSummary)}.fa`]])
      .toSorted(),
  );
  expect(open.read).toHaveBeenCalledTimes(4);
  library.historyChangedElsewhere.mockRejectedValueOnce(new AppFailure(GONE));
  await vi.advanceTimersByTimeAsync(5_000);
  // It asks again after a failure.
  await vi.waitUntil(() => vi.getTimerCount() === 1);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(library.historyChangedElsewhere).toHaveBeenCalledTimes(2);
  await catalog.close();
  expect(vi.getTimerCount()).toBe(0);
  catalog.checkAll();
  await catalog.close();
  expect([open.read.mock.calls.length, vi.getTimerCount()]).toEqual([4, 0]);
});

it('asks the folder of a run that another program has changed, unless it has ended or is open here', async () => {
  const { runs, inFolders, library, open, catalog } = made([PAUSED, PAUSED, DONE, PAUSED]);
  const [changed, openHere, ended, unknown] = runs as [RunSummary, RunSummary, RunSummary, RunSummary];
  const entries = await library.history();
  library.history.mockResolvedValue(entries.slice(0, 3));
  await catalog.load();
  library.historyChangedElsewhere.mockResolvedValue(entries);
  open.session.mockImplementation((folder) => (folder === openHere.folder ? {} : undefined));
  inFolders.set(changed.folder, { ...changed, state: DONE });
  inFolders.set(unknown.folder, new AppFailure(GONE));
  await catalog.takeOthers();
  expect(open.read.mock.calls.map(([folder]) => folder)).toEqual([changed.folder, unknown.folder]);
  expect(catalog.find(changed.runId).state).toEqual(DONE);
  expect(catalog.find(ended.runId)).toEqual(ended);
  // Its folder is out of reach, so the list of the other program counts.
  expect(catalog.find(unknown.runId)).toEqual(unknown);
  await catalog.close();
  library.historyChangedElsewhere.mockResolvedValue([libraryEntry({ ...ended, runId: 'late' }, [])]);
  await catalog.takeOthers();
  expect(catalog.has('late')).toBe(false);
});

it('follows a run that was moved, and keeps which files the user named', async () => {
  const { runs, inFolders, library, open, catalog, told } = made([PAUSED]);
  const [run] = runs as [RunSummary];
  await catalog.add(run.folder, ['/data/named.fa']);
  expect(open.closeReader).not.toHaveBeenCalled();
  inFolders.set('/moved', { ...run, folder: '/moved' });
  expect(await catalog.add('/moved')).toMatchObject({ folder: '/moved' });
  expect(open.closeReader.mock.calls).toEqual([[run.folder]]);
  expect([catalog.folder(run.runId), catalog.namedPaths()]).toEqual(['/moved', ['/data/named.fa']]);
  expect(library.saveRun.mock.lastCall?.[0]).toMatchObject({ folder: '/moved', inputs: ['/data/named.fa'] });
  expect(told).toHaveBeenCalledTimes(2);
});
