import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import { syntheticSummary } from '../testing/manyRuns.ts';
import type { OpenRuns } from './openRuns.ts';
import { RunCatalog } from './runCatalog.ts';
import { libraryEntry } from './runSummary.ts';

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
        const catalog = new RunCatalog(
          library as unknown as LibraryStore,
          open as unknown as OpenRuns,
          {} as AppPaths,
        );
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
