import { join } from 'node:path';
import { appError, asAppError, type AppError, allowRefusal } from '../../../contract/errors.ts';
import { goalText } from '../../../contract/goal.ts';
import { modelMark, shortestChunk } from '../../../contract/plan.ts';
import { PROVISIONAL_TABLE, RESULT_FILES } from '../../../contract/results.ts';
import type { Where } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import {
  type EngineContext,
  listRun,
  type OpenRun,
  type StartOptions,
  nodeOf,
  workOnRun,
  formatCount,
  formatDuration,
} from '../../../engine/index.ts';
import { EXIT, exitCodeOf, exitCodeAfter, stopSignals, type StopSignal } from '../../exitCodes.ts';
import type { Reporter } from '../../output/reporter.ts';

export interface FollowOptions extends StartOptions {
  /** The command that resumes the run after it was stopped; `resume` by default. */
  goOnWith?: string;
}

/**
 * Starts the run, shows its progress until it settles, and returns the exit code. The run appears in the
 * window's list from its start.
 */
export async function followRun(
  context: EngineContext,
  session: OpenRun,
  reporter: Reporter,
  options: FollowOptions = {},
): Promise<number> {
  const { goOnWith = `virnucpro resume ${quoted(session.folder)}` } = options;
  let stoppedBy: StopSignal | undefined;
  const onSignal = (signal: StopSignal): void => {
    if (stoppedBy) {
      reporter.end();
      process.exit(exitCodeAfter(signal));
    }
    stoppedBy = signal;
    reporter.line(
      session.record.state.phase === 'finishing'
        ? 'The results are being written; ending after that. (Again to quit at once.)'
        : 'Stopping after the current batch. What is computed is kept. (Again to quit at once.)',
    );
    stop();
  };
  // Refused if the run has not begun yet, or is writing its results: it then ends after that.
  const stop = (): void => {
    session.stopNow().then(allowRefusal, (reason: unknown) => {
      reporter.error(asAppError(reason));
    });
  };
  // A share belongs to a run that is listed where it was created.
  const list = async (): Promise<void> => {
    if (nodeOf(session.record.stored) === null) await listRun(context, session.record.store);
  };
  const signals = stopSignals();
  const listed = list();
  for (const signal of signals) process.on(signal, onSignal);
  try {
    const rested = await workOnRun(session, {
      ...options,
      listener: (change) => {
        if (change.type === 'note') reporter.note(change.note);
        else reporter.state(change.state);
      },
      started: () => {
        reporter.follow(session);
        if (stoppedBy) stop();
      },
    });
    reporter.end();
    if (!rested.ok) {
      reporter.error(rested.error);
      return EXIT.failed;
    }
    const state = rested.value;
    if (stoppedBy && state.phase !== 'done') {
      reporter.line(`Stopped. Go on with: ${goOnWith}`);
      return exitCodeAfter(stoppedBy);
    }
    summarize(session, state, reporter, options.where ?? session.record.request.where);
    // Only reading the inputs was requested.
    if (options.preparesOnly && state.phase === 'paused' && state.error === null) return EXIT.done;
    if (nodeOf(session.record.stored) !== null) return exitCodeOf(state);
    if (state.phase === 'done' && lacksResults(session, reporter)) return EXIT.doneWithFailures;
    return exitCodeOf(state);
  } finally {
    reporter.end();
    for (const signal of signals) process.off(signal, onSignal);
    await listed;
    await list();
    await session.close();
  }
}

/** Whether a finished run lacks result files; prints which, even with --quiet. */
export function lacksResults(
  { missingResults }: Pick<OpenRun, 'missingResults'>,
  reporter: Pick<Reporter, 'error'>,
): boolean {
  if (missingResults.length === 0) return false;
  reporter.error(appError('results_missing', `Could not be written: ${missingResults.join(', ')}.`));
  return true;
}

function summarize(session: OpenRun, state: RunState, reporter: Reporter, where: Where): void {
  if (state.phase === 'paused' && state.error) {
    reporter.error(state.error);
    if (state.error.code === 'run_damaged' || state.error.code === 'folder_gone') return;
    reporter.line(
      `Everything computed so far is kept. Go on with: ${resumeCommand(session.folder, state.error, where)}`,
    );
    return;
  }
  if (state.phase === 'paused' && state.enough) {
    reporter.line(
      `Enough: the goal ${goalText(state.enough)} is reached, and the rest is not computed. Compute it with: virnucpro resume ${quoted(session.folder)}`,
    );
    reporter.line(`Provisional results: ${join(session.folder, PROVISIONAL_TABLE)}`);
    return;
  }
  const { written } = session;
  if (state.phase !== 'done' || !written) return;
  const { plan } = session.record.stored;
  const { model, chunkLength, secondLook, minLength } = plan;
  const mark = modelMark(model);
  const { byPrediction: total, byReason } = written.counts;
  const progress = session.progress();
  reporter.line(
    `Done in ${formatDuration(progress.elapsedSeconds)}: ${formatCount(total.virus)} sequences called virus, ` +
      `${formatCount(total.others)} others, ${formatCount(total.not_scored)} not scored, ${formatCount(total.failed)} failed ` +
      `(model ${model.title}, ${formatCount(progress.frames.done)} reading frames).`,
  );
  if (minLength !== undefined)
    reporter.line(
      `Left out, as shorter than ${formatCount(minLength)} bp: ${counted(byReason.below_min_length, 'sequence')}.`,
    );
  if (byReason.no_open_frame > 0)
    reporter.line(
      `Could not be judged: ${counted(byReason.no_open_frame, 'sequence')} without an open reading frame over ${formatCount(shortestChunk(plan))} bp.` +
        (secondLook
          ? ''
          : ` predict --chunk-length ${chunkLength}+SHORTER --reuse-embeddings ${quoted(session.folder)} judges these in shorter chunks; validate says how many.`),
    );
  if (mark !== null) reporter.line(`${mark}: the folder and the files in it are marked as such.`);
  for (const line of failureLines(state, session.folder)) reporter.wrong(line);
  const results = session.record.request.tables === 'parquet' ? 'results' : 'sequences';
  reporter.line(`Results: ${join(session.folder, RESULT_FILES[results])}`);
}

type Done = Extract<RunState, { phase: 'done' }>;

/** What failed in a run, and which list shows it: files and parts share one, sequences have another. */
export function failureLines(
  {
    failedInputs = 0,
    failedParts,
    failedRecords,
    damage,
  }: Pick<Done, 'failedInputs' | 'failedParts' | 'failedRecords' | 'damage'>,
  folder: string,
): string[] {
  const [files, records] = [join(folder, RESULT_FILES.failedFiles), join(folder, RESULT_FILES.failedRecords)];
  const lists = failedParts > 0 ? `${records} and ${files}` : records;
  return [
    ...(failedInputs > 0 ? [`${counted(failedInputs, 'file')} could not be used: see ${files}`] : []),
    ...(failedParts > 0 || failedRecords > 0
      ? [`${counted(failedRecords, 'sequence')} failed: see ${lists}`]
      : []),
    ...(damage
      ? [
          `${counted(damage.records, 'damaged record')}, ${counted(damage.lines, 'line')} passed over: see ${records}`,
        ]
      : []),
  ];
}

const counted = (count: number, thing: string): string =>
  `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;

/** A run keeps its batch script: if SLURM refuses it, the corrected script has to be passed again. */
export function resumeCommand(folder: string, { code }: Pick<AppError, 'code'>, where: Where): string {
  const command = `virnucpro resume ${quoted(folder)}`;
  return where.kind === 'slurm' && code === 'cluster_failed'
    ? `${command} --slurm SCRIPT (the corrected one)`
    : command;
}

export function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
