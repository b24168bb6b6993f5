import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';

const EVERY_MS = 2000;

/** For lists that change while a run computes: repeats the query until the run rests. */
export const whileInWork = (run: RunSummary) => ({ refetchInterval: isAtWork(run) && EVERY_MS });
