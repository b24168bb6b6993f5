import type { RunSummary } from '../../../electron/contract/index.ts';
import { createTexts, type Texts } from '../../i18n/index.ts';
import { goToRun } from '../navigation.ts';
import { type RunStatus, runStatus, useRuns } from './runs.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { say } from '../say.ts';
import { useSettings } from '../settings.ts';

/** Endings worth a notification. A pause is not, since the user requested it. */
const TOLD: readonly RunStatus[] = ['done', 'done_with_failures', 'halted', 'failed', 'interrupted'];

/** Runs that were at work before and have ended this way since. */
export function endedBetween(before: readonly RunSummary[], now: readonly RunSummary[]): RunSummary[] {
  const worked = new Set(before.filter(isAtWork).map(({ runId }) => runId));
  return now.filter((run) => worked.has(run.runId) && TOLD.includes(runStatus(run)));
}

/** A page may ask for permission only on a click, and only if the user has not decided before. */
export const canAskForNotifications = () =>
  typeof Notification !== 'undefined' && window.isSecureContext && Notification.permission === 'default';

/** Asks for permission to send notifications, and reports the answer. Must be called while a click is handled. */
export async function askForNotifications(t: Texts['t']): Promise<void> {
  const answer = await Notification.requestPermission();
  say(t(answer === 'granted' ? 'run.notifyOn' : 'run.notifyOff'));
}

/** In browser mode, sends a browser notification when a run ends while the page is hidden. */
export function followRunEnds(): () => void {
  return useRuns.subscribe(({ runs }, before) => {
    const { info, settings } = useSettings.getState();
    if (info?.shell !== 'browser' || !runs || !before.runs) return;
    if (!document.hidden || typeof Notification === 'undefined' || Notification.permission !== 'granted')
      return;
    const { t } = createTexts(settings?.language ?? 'en');
    for (const run of endedBetween(before.runs, runs)) {
      const notice = new Notification(run.name, { body: t(`runState.${runStatus(run)}`), tag: run.runId });
      notice.addEventListener('click', () => {
        window.focus();
        goToRun(run.runId, run.state.phase === 'done' ? 'results' : 'progress');
      });
    }
  });
}
