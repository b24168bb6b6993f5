import { ok, type Result } from '../../contract/result.ts';
import type { RunState } from '../../contract/runState.ts';
import type { OpenRun, StartOptions } from './openRun.ts';
import type { RunListener } from './runRecord.ts';

export interface WorkOptions extends StartOptions {
  /** Hears of every change until the run is at rest. */
  listener: RunListener;
  /** Workers have been started, or the run is at rest already. */
  started: () => void;
}

/**
 * Works on an open run until nobody does any more, whatever the reason; answers with the state that it then has, or with why
 * it could not be started. Windows and command line both do it by this.
 */
export async function workOnRun(run: OpenRun, options: WorkOptions): Promise<Result<RunState>> {
  const unsubscribe = run.subscribe(options.listener);
  try {
    const start = await run.start(options);
    if (!start.ok) return start;
    options.started();
    return ok(await run.whenIdle());
  } finally {
    unsubscribe();
  }
}
