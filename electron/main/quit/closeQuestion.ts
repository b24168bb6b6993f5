import type { RunLive } from '../../contract/rpc/runs.ts';
import { formatEstimate, formatPercent } from '../../engine/index.ts';
import type { Question } from '../askUser.ts';
import type { QuitAnswer } from './quitMachine.ts';

/** The question to a user who closes the program during a run: what will be kept, and what each choice does. */
export function closeQuestion(live: RunLive): Question<QuitAnswer> {
  const { run, progress } = live;
  const { parts } = progress;
  const percent = progress.fraction === null ? '' : ` (${formatPercent(progress.fraction)})`;
  const computed =
    parts.total === 0
      ? 'Its sequences are still being read, and nothing is computed yet. '
      : `${parts.done} of ${parts.total}${progress.prepare.finished ? '' : ' or more'} parts are computed and stay on the disk whatever you choose. `;
  const inWork = parts.inWork === 1 ? '1 part is being computed' : `${parts.inWork} parts are being computed`;
  return {
    message: `"${run.name}" is still at work${percent}.`,
    detail:
      computed +
      (parts.inWork === 0 ? '' : `${inWork}: if you quit now, they are computed again when you go on. `) +
      (run.state.phase === 'draining' || run.state.phase === 'pausing'
        ? 'If you cancel, the program stays open, and the run pauses when the current parts are finished. '
        : '') +
      'Without a window the run goes on in the background; start the program again to see it.',
    choices: [
      ['Keep running without a window', 'background'],
      ...(run.state.phase === 'running'
        ? [
            [
              `Finish the current parts${minutes(partsInWorkSeconds(live))}, then quit`,
              'after_parts',
            ] as const,
          ]
        : []),
      ['Quit now', 'now'],
      ['Cancel', 'cancel'],
    ],
    cancel: 'cancel',
  };
}

/**
 * The question to a user who closes the program while Python is being set up or weights are being downloaded.
 */
export function downloadQuestion(): Question<QuitAnswer> {
  return {
    message: 'A download is still under way.',
    detail:
      'If you quit now, it stops. What was fetched is kept, and it goes on from there when you ask for it. ' +
      'Without a window it goes on in the background; start the program again to see it.',
    choices: [
      ['Go on without a window', 'background'],
      ['Quit now', 'now'],
      ['Cancel', 'cancel'],
    ],
    cancel: 'cancel',
  };
}

/** How long the slowest current part will take; null while no device has a measured speed. */
function partsInWorkSeconds({ run, devices }: RunLive): number | null {
  const seconds = devices.flatMap(({ worker, partFraction, residuesPerSecond }) =>
    worker.state === 'working' && residuesPerSecond
      ? [((1 - (partFraction ?? 0)) * run.plan.residuesPerPart) / residuesPerSecond]
      : [],
  );
  return seconds.length > 0 ? Math.max(...seconds) : null;
}

function minutes(seconds: number | null): string {
  return seconds === null ? '' : ` (about ${formatEstimate(60 * Math.ceil(seconds / 60))})`;
}
