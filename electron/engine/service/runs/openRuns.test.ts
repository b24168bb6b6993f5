import { afterAll, expect, it, vi } from 'vitest';
import { appError, AppFailure, ok } from '../../../contract/errors.ts';
import { OpenRun } from '../../run/openRun.ts';
import { preparedRun, removeFolders } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { testContext } from '../../testing/testContext.ts';
import { OpenRuns } from './openRuns.ts';

afterAll(removeFolders);

it('a question to a run that is closed before it answers is asked of its folder again', async () => {
  const { folder, store } = await preparedRun([[recordOf('read', [1])]]);
  await store.close();
  const context = testContext();
  const runs = new OpenRuns(context);
  const closed = new AppFailure(appError('internal', 'The database is closed.'));
  const session = {
    store: {
      loadRun: async () => {
        await runs.closeSession(folder);
        throw closed;
      },
    },
    close: () => Promise.resolve(),
  };
  const open = vi.spyOn(OpenRun, 'open').mockResolvedValue(ok(session as unknown as OpenRun));
  await runs.openSession(context, folder);
  open.mockRestore();
  expect((await runs.read(folder, (asked) => asked.loadRun())).inputs).toHaveLength(1);
  await runs.close();
});
