import {
  type EngineContext,
  OpenRun,
  isRunFolder,
  isRunSound,
  storedRequest,
  verifyRun,
} from '../../../engine/index.ts';
import { EXIT, exitCodeOf } from '../../exitCodes.ts';
import type { Goal } from '../../../contract/goal.ts';
import { AppFailure, unwrap, appFailure } from '../../../contract/errors.ts';
import type { Reporter } from '../../output/reporter.ts';
import { whereAsked, type ClusterFlags } from '../../clusterFlags.ts';
import { followRun, lacksResults, quoted } from './followRun.ts';
import { predictCommand } from '../../../contract/terminal/predictCommand.ts';
import type { VerifiedFile } from '../../../contract/rpc/runs.ts';
import { stores, withRun } from '../../openEngine.ts';
import { toStandardOutput } from '../../output/terminal.ts';
import { reporterOf, type CommonFlags } from '../../commonFlags.ts';

export interface ResumeFlags extends ClusterFlags, CommonFlags {
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
export async function resume(context: EngineContext, folder: string, flags: ResumeFlags): Promise<number> {
  const reporter = await reporterOf(flags);
  const devices = flags.devices ?? flags.gpus;
  const elsewhere = { devices, where: whereAsked(flags, devices), until: flags.until };
  const session = unwrap(await OpenRun.open(context, folder));
  if (flags.finishNow && session.record.state.phase !== 'done') {
    const left = await session.finishNow();
    if (!left.ok) {
      await session.close();
      throw new AppFailure(left.error);
    }
  }
  if (session.record.state.phase !== 'done') return followRun(context, session, reporter, elsewhere);
  if (flags.retryFailed && session.record.state.failedParts > 0) {
    await session.record.store.retryFailed('all');
    return followRun(context, session, reporter, elsewhere);
  }
  const exitCode = await completeFinished(session, reporter);
  if (exitCode !== null) return exitCode;
  return followRun(context, session, reporter, elsewhere);
}

/**
 * Looks whether a finished run is whole, and writes its result files again if they are not; the run is then
 * closed. Returns null, with the run still open, if scores must be computed again first.
 */
export async function completeFinished(session: OpenRun, reporter: Reporter): Promise<number | null> {
  let isToCompute = false;
  const { failedParts } = session.record.state.phase === 'done' ? session.record.state : { failedParts: 0 };
  try {
    const lack = await session.findLack();
    isToCompute = lack === 'scores';
    if (isToCompute) return null;
    if (lack === 'result_files') {
      session.record.subscribe((change) => {
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
        ? `The run is done, but ${failedParts === 1 ? 'one part' : `${failedParts} parts`} failed. Try again with: virnucpro resume ${quoted(session.folder)} --retry-failed`
        : 'The run is already complete.',
    );
    return exitCodeOf(session.record.state);
  } finally {
    if (!isToCompute) await session.close();
  }
}

/** Prints the command that repeats a run. */
export async function command(run: string): Promise<number> {
  const repeatable = await withRun(run, async (store) => {
    const stored = await store.loadRun();
    return { plan: stored.plan, request: storedRequest(stored, store.folder), folder: store.folder };
  });
  toStandardOutput(predictCommand(repeatable));
  return EXIT.done;
}

const WORDS: Record<VerifiedFile['verdict'], string> = {
  sound: 'is as it was written',
  damaged: 'is DAMAGED',
  missing: 'is not there',
  unreadable: 'cannot be read',
};

const NOT_LOOKED_AT =
  'Not looked at, since no result depends on them: work files of parts that are done, logs, and unused bytes of run.db.';

/**
 * Compares all files of a run with their checksums and prints the result for each; with --quiet, only for
 * files with a problem.
 */
export async function verify(
  folder: string,
  { json, quiet }: Pick<CommonFlags, 'json' | 'quiet'>,
): Promise<number> {
  if (!isRunFolder(folder)) throw appFailure('folder_not_a_run', `${folder} holds no run.db.`);
  const files = await verifyRun({ storeHost: stores.host }, folder);
  const sound = isRunSound(files);
  const lines = json
    ? [JSON.stringify({ sound, files })]
    : [
        ...files
          .filter((file) => quiet !== true || !isRunSound([file]))
          .map(
            ({ kind, path, verdict, detail }) =>
              `${kind === 'input' && verdict === 'damaged' ? `${path} has CHANGED` : `${path} ${WORDS[verdict]}`}.${detail === null ? '' : ` ${detail}`}`,
          ),
        sound
          ? quiet === true
            ? ''
            : `Nothing is damaged. ${NOT_LOOKED_AT}`
          : `Something is not as it was written, or cannot be read. ${advice(folder, files)}\n${NOT_LOOKED_AT}`,
      ];
  const findings = lines.filter((line) => line !== '');
  if (findings.length > 0) toStandardOutput(findings.join('\n'));
  return sound ? EXIT.done : EXIT.damaged;
}

function advice(folder: string, files: readonly VerifiedFile[]): string {
  const bad = files.filter(({ verdict }) => verdict === 'damaged' || verdict === 'missing');
  if (bad.length === 0) return 'What cannot be read was not compared: try again later, or with a copy.';
  if (bad.every(({ kind }) => kind === 'input'))
    return 'The results are those of the files as they were when the run read them.';
  return `Repair what can be repaired with: virnucpro resume ${JSON.stringify(folder)}`;
}
