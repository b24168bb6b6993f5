import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';

const REFRESH_MS = 5000;

/** For queries about results: repeats them while the run computes. */
export const whileGrowing = (run: RunSummary) => ({ refetchInterval: isAtWork(run) && REFRESH_MS }) as const;
