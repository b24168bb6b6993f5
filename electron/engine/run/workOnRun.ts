import { ok, type Result } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';
import type { OpenRun, StartOptions } from './openRun.ts';
import type { RunListener } from './runRecord.ts';

interface WorkOptions extends StartOptions {
  /** Called on every change until the run stops. */
  listener: RunListener;
  /** Called when workers have been started, or the run has already stopped. */
  started: () => void;
}

/**
 * Computes an open run until it stops, for whatever reason; returns its state then, or why it could not be
 * started. Windows and the command line both use this function.
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
