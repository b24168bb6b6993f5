import type { EngineContext } from './engineContext.ts';
import { DEADLINES } from './workers/deadlines.ts';

/** The engine before it has a Python environment. */
export type EngineBase = Omit<EngineContext, 'environment'>;

const RESTART_DELAY_MS = 1_000;

export function engineBase(program: Pick<EngineBase, 'appVersion' | 'paths' | 'storeHost'>): EngineBase {
  return { ...program, deadlines: DEADLINES, restartDelayMs: RESTART_DELAY_MS };
}
