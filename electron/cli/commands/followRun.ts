import { join } from 'node:path';
import { RESULT_FILES } from '../../contract/results.ts';
import type { RunState } from '../../contract/runState.ts';
import type { RunSession } from '../../engine/runs/runSession.ts';
import { EXIT, exitCodeOf } from '../exitCodes.ts';
import { formatCount, formatSeconds } from '../output/numbers.ts';
import type { Reporter } from '../output/reporter.ts';

/** Starts the run, shows it until nobody works on it any more, and answers with the exit code. */
export async function followRun(session: RunSession, reporter: Reporter, devices?: string): Promise<number> {
  session.subscribe((change) => {
    if (change.type === 'note') reporter.note(change.note);
    else reporter.state(change.state);
  });
  let stoppedBy: 'SIGINT' | 'SIGTERM' | undefined;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (stoppedBy) {
      reporter.end();
      process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
    }
    stoppedBy = signal;
    reporter.line('Stopping after the batch in work. What is computed is kept. (Again to quit at once.)');
    void session.stopNow();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    const started = await session.start(devices);
    if (!started.ok) {
      reporter.error(started.error);
      return EXIT.failed;
    }
    reporter.follow(session);
    const state = await session.whenIdle();
    reporter.end();
    if (stoppedBy) {
      reporter.line(`Stopped. Go on with: virnucpro resume ${quoted(session.folder)}`);
      return stoppedBy === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
    }
    await summarize(session, state, reporter);
    return exitCodeOf(state);
  } finally {
    reporter.end();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    await session.close();
  }
}

async function summarize(session: RunSession, state: RunState, reporter: Reporter): Promise<void> {
  if (state.phase === 'paused' && state.error) {
    reporter.error(state.error);
    reporter.line(
      `Everything computed so far is kept. Go on with: virnucpro resume ${quoted(session.folder)}`,
    );
    return;
  }
  if (state.phase !== 'done') return;
  const { notice, title } = session.stored.plan.model;
  const total = { virus: 0, others: 0, not_scored: 0, failed: 0 };
  for (const input of await session.store.inputSummaries()) {
    for (const [prediction, count] of Object.entries(input.byPrediction)) {
      total[prediction as keyof typeof total] += count;
    }
  }
  const progress = session.progress();
  reporter.line(
    `Done in ${formatSeconds(progress.elapsedSeconds)}: ${formatCount(total.virus)} sequences called virus, ` +
      `${formatCount(total.others)} others, ${formatCount(total.not_scored)} not scored, ${formatCount(total.failed)} failed ` +
      `(model ${title}, ${formatCount(progress.frames.done)} reading frames).`,
  );
  if (notice) reporter.line(`Note: ${notice}.`);
  if (state.failedShards > 0 || state.failedRecords > 0) {
    reporter.line(
      `${formatCount(state.failedRecords)} sequences failed: see ${join(session.folder, RESULT_FILES.failedRecords)}`,
    );
  }
  reporter.line(`Results: ${join(session.folder, RESULT_FILES.sequences)}`);
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : JSON.stringify(path);
}
