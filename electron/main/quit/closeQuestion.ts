import type { RunLive } from '../../contract/rpc/runs.ts';
import type { Question } from '../askUser.ts';
import type { ShellTexts } from '../shellTexts.ts';
import type { QuitAnswer } from './quitMachine.ts';

/** The question to a user who closes the program during a run: what will be kept, and what each choice does. */
export function closeQuestion(live: RunLive, t: ShellTexts): Question<QuitAnswer> {
  const { run, progress } = live;
  const { parts, prepare, fraction } = progress;
  const { name } = run;
  const minutes = Math.ceil((partsInWorkSeconds(live) ?? 0) / 60);
  return {
    message:
      fraction === null
        ? t('shell.close.atWork', { name })
        : t('shell.close.atWorkDone', { name, done: fraction }),
    detail: [
      parts.total === 0
        ? t('shell.close.nothingYet')
        : t('shell.close.computed', {
            ...{ done: parts.done, total: parts.total, isRead: prepare.finished ? 'yes' : 'no' },
          }),
      ...(parts.inWork === 0 ? [] : [t('shell.close.inWork', { parts: parts.inWork })]),
      ...(run.state.phase === 'draining' || run.state.phase === 'pausing' ? [t('shell.close.pauses')] : []),
      t('shell.close.background'),
    ].join(' '),
    choices: [
      [t('shell.close.keepRunning'), 'background'],
      ...(run.state.phase === 'running'
        ? [[t('shell.close.afterParts', { minutes }), 'after_parts'] as const]
        : []),
      [t('shell.close.now'), 'now'],
      [t('shell.cancel'), 'cancel'],
    ],
    cancel: 'cancel',
  };
}

/**
 * The question to a user who closes the program while Python is being set up or weights are being downloaded.
 */
export function downloadQuestion(t: ShellTexts): Question<QuitAnswer> {
  return {
    message: t('shell.close.download'),
    detail: t('shell.close.downloadDetail'),
    choices: [
      [t('shell.close.downloadGoesOn'), 'background'],
      [t('shell.close.now'), 'now'],
      [t('shell.cancel'), 'cancel'],
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
