import type { Plan } from '../../contract/plan.ts';
import type { EngineContext } from './engineContext.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import type { RunDescription } from '../store/types.ts';

/** Creates the database of a run in its folder, whose lock the caller holds, for what the run begins with. */
export const createRunStore = (
  { storeHost: hostEntry, closing, startModule, appVersion }: EngineContext,
  folder: string,
  plan: Plan,
  run: Pick<RunDescription, 'runId' | 'name' | 'options'>,
): Promise<RunStore> =>
  openRunStore(folder, {
    ...{ hostEntry, closing, startModule, writesOnly: true },
    create: { plan, description: { ...run, createdAt: Date.now(), appVersion } },
  });
