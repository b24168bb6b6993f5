import { type EngineContext, OpenRun } from '../../../engine/index.ts';
import { EXIT, exitCodeOf } from '../../exitCodes.ts';
import type { Goal } from '../../../contract/goal.ts';
import { AppFailure } from '../../../contract/errors.ts';
import { unwrap } from '../../../contract/result.ts';
import type { Reporter } from '../../output/reporter.ts';
import { startAsked, type ClusterFlags } from '../../clusterFlags.ts';
import { followRun, lacksResults } from './followRun.ts';

export interface ResumeFlags extends ClusterFlags {
  devices?: string;
  gpus?: string;
  retryFailed?: boolean;
  finishNow?: boolean;
  until?: Goal | null;
}

/**
 * Resumes a run; a finished one is only completed if something is missing, unless its failed parts are to be
 * retried.
 */
export async function resume(
  context: EngineContext,
  folder: string,
  flags: ResumeFlags,
  reporter: Reporter,
): Promise<number> {
  const devices = flags.devices ?? flags.gpus;
  const elsewhere = { ...startAsked(flags, devices), until: flags.until };
  const session = unwrap(await OpenRun.open(context, folder));
  if (flags.finishNow && session.state.phase !== 'done') {
    const left = await session.finishNow();
    if (!left.ok) {
      await session.close();
      throw new AppFailure(left.error);
    }
  }
  if (session.state.phase !== 'done') return followRun(context, session, reporter, elsewhere);
  if (flags.retryFailed && session.state.failedParts > 0) {
    await session.store.retryFailed('all');
    return followRun(context, session, reporter, elsewhere);
  }
  const lack = await session.findLack();
  if (lack === 'scores') return followRun(context, session, reporter, elsewhere);
  const { failedParts } = session.state;
  try {
    if (lack === 'result_files') {
      session.subscribe((change) => {
        if (change.type === 'note') reporter.note(change.note);
      });
      unwrap(await session.writeResultsAgain());
      reporter.line(
        'Not everything that a run leaves was there, or was as it had been written: its result files have been written again.',
      );
    }
    if (lacksResults(session, reporter)) return EXIT.doneWithFailures;
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
