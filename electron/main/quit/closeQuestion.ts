import type { RunLive } from '../../contract/rpc/runs.ts';
import { formatEstimate, formatPercent } from '../../engine/index.ts';
import type { Question } from '../askUser.ts';
import type { Words } from '../words.ts';
import type { QuitAnswer } from './quitMachine.ts';

/** The question to a user who closes the program during a run: what will be kept, and what each choice does. */
export function closeQuestion(live: RunLive, { close, cancel }: Words): Question<QuitAnswer> {
  const { run, progress } = live;
  const { parts, prepare, fraction } = progress;
  const seconds = partsInWorkSeconds(live);
  const minutes = seconds === null ? '' : close.about(formatEstimate(60 * Math.ceil(seconds / 60)));
  return {
    message: close.atWork(run.name, fraction === null ? '' : ` (${formatPercent(fraction)})`),
    detail:
      (parts.total === 0 ? close.nothingYet : close.computed(parts.done, parts.total, !prepare.finished)) +
      (parts.inWork === 0 ? '' : close.inWork(parts.inWork)) +
      (run.state.phase === 'draining' || run.state.phase === 'pausing' ? close.pauses : '') +
      close.background,
    choices: [
      [close.keepRunning, 'background'],
      ...(run.state.phase === 'running' ? [[close.afterParts(minutes), 'after_parts'] as const] : []),
      [close.now, 'now'],
      [cancel, 'cancel'],
    ],
    cancel: 'cancel',
  };
}

/**
 * The question to a user who closes the program while Python is being set up or weights are being downloaded.
 */
export function downloadQuestion({ close, cancel }: Words): Question<QuitAnswer> {
  return {
    message: close.download,
    detail: close.downloadDetail,
    choices: [
      [close.downloadGoesOn, 'background'],
      [close.now, 'now'],
      [cancel, 'cancel'],
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
