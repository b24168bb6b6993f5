import { type EngineContext, OpenRun } from '../../engine/index.ts';
import { exitCodeOf } from '../exitCodes.ts';
import { unwrap } from '../../contract/result.ts';
import type { Reporter } from '../output/reporter.ts';
import { followRun } from './followRun.ts';

export interface ResumeFlags {
  devices?: string;
  gpus?: string;
  retryFailed?: boolean;
}

/** Goes on with a run where it was; one that is done only gets what it lacks, unless its failed parts are to be tried again. */
export async function resume(
  context: EngineContext,
  folder: string,
  flags: ResumeFlags,
  reporter: Reporter,
): Promise<number> {
  const session = unwrap(await OpenRun.open(context, folder));
  if (session.state.phase !== 'done')
    return followRun(session, reporter, { devices: flags.devices ?? flags.gpus });
  if (flags.retryFailed && session.state.failedParts > 0) {
    await session.store.retryFailed('all');
    return followRun(session, reporter, { devices: flags.devices ?? flags.gpus });
  }
  const { failedParts } = session.state;
  try {
    if (!session.isWrappedUp) {
      session.subscribe((change) => {
        if (change.type === 'note') reporter.note(change.note);
      });
      unwrap(await session.writeResultsAgain());
      reporter.line('Not everything that a run leaves was there: its result files have been written again.');
    }
    reporter.line(
      failedParts > 0
        ? `The run is done, but ${failedParts} parts failed. Try them again with --retry-failed.`
        : 'The run is already complete.',
    );
  } finally {
    await session.close();
  }
  return exitCodeOf(session.state);
}
