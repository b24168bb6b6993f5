import type { RunSummary } from '../../../electron/contract/index.ts';
import { isInWork } from '../../state/runs.ts';

const EVERY_MS = 2000;

/** For lists that change while a run computes: asked for again and again until it rests. */
export const whileInWork = (run: RunSummary) => ({ refetchInterval: isInWork(run) && EVERY_MS });
