import { dirname } from 'node:path';
import { appError, AppFailure } from '../contract/errors.ts';
import { isRunFolder, openRunStore } from '../engine/index.ts';

/**
 * Opens a run for reading, also while another program works on it, and closes it again. `run` is its folder,
 * or a file in it such as run.json. Needs no Python.
 */
export async function withRun<Answer>(
  run: string,
  storeHost: URL,
  work: (store: Awaited<ReturnType<typeof openRunStore>>) => Promise<Answer>,
): Promise<Answer> {
  const folder = !isRunFolder(run) && isRunFolder(dirname(run)) ? dirname(run) : run;
  if (!isRunFolder(folder)) throw new AppFailure(appError('folder_not_a_run', `${run} holds no run.db.`));
  const store = await openRunStore(folder, { hostEntry: storeHost, readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
