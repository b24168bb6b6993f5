import { afterEach, expect, it } from 'vitest';
import { preparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { testContext } from '../../testing/testContext.ts';
import { OpenRuns } from './openRuns.ts';
const context = testContext();
let runs: OpenRuns;
afterEach(() => runs.close());

async function openRun({ asSession }: { asSession: boolean }): Promise<string> {
  const { folder, store } = await preparedRun([[recordOf('read', [1])]]);
  await store.close();
  runs = new OpenRuns(context);
  if (asSession) await runs.openSession(context, folder);
  return folder;
}

/** A question that has begun, and asks the database only when it may go on. */
async function questionTo(folder: string) {
  const [begun, mayGoOn] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const answer = runs.read(folder, async (store) => {
    begun.resolve(null);
    await mayGoOn.promise;
    return (await store.loadRun()).inputs.length;
  });
  await begun.promise;
  return { answer, goOn: () => mayGoOn.resolve(null) };
}

it.each([
  ['a session', { asSession: true }, (folder: string) => runs.closeSession(folder)],
  ['a reader', { asSession: false }, (folder: string) => runs.closeReader(folder)],
  [
    'a reader that makes room for a session',
    { asSession: false },
    (folder: string) => runs.openSession(context, folder),
  ],
])('%s is closed only after its last question is answered', async (_, opened, close) => {
  const folder = await openRun(opened);
  const [first, last] = [await questionTo(folder), await questionTo(folder)];
  const order: string[] = [];
  const closing = close(folder).then(() => order.push('closed'));
  first.goOn();
  expect(await first.answer).toBe(1);
  order.push('first');
  last.goOn();
  expect(await last.answer).toBe(1);
  order.push('last');
  await closing;
  expect(order).toEqual(['first', 'last', 'closed']);
  expect(await runs.read(folder, async (store) => (await store.loadRun()).inputs.length)).toBe(1);
});

it('the end of the program waits for no question', async () => {
  const folder = await openRun({ asSession: true });
  const [toSession, closing] = [await questionTo(folder), runs.closeSession(folder)];
  await runs.close();
  await closing;
  toSession.goOn();
  await expect(toSession.answer).rejects.toThrow();
  expect(runs.readerCount).toBe(0);
});
