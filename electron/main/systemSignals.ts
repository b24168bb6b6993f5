import { Notification, powerMonitor, powerSaveBlocker, type BrowserWindow } from 'electron';
import { isAtWork } from '../contract/runState.ts';
import type { RunSummary } from '../contract/rpc/runs.ts';
import type { Service, ShellLog } from '../engine/index.ts';
import { noticeOf, taskbarProgress, type Notice } from './runSignals.ts';
import type { ShellTexts } from './shellTexts.ts';

/** Keeps the computer from sleeping while runs need it; the screen may turn off. */
class KeepAwake {
  private blocker: number | undefined;

  set(wanted: boolean): void {
    if (wanted && this.blocker === undefined) {
      this.blocker = powerSaveBlocker.start('prevent-app-suspension');
    } else if (!wanted && this.blocker !== undefined) {
      powerSaveBlocker.stop(this.blocker);
      this.blocker = undefined;
    }
  }
}

interface Desktop {
  window: () => BrowserWindow | undefined;
  show: () => void;
  texts: () => ShellTexts;
  log: ShellLog;
}

/**
 * What the desktop shows about runs outside the window: progress in the taskbar and notifications. Also keeps
 * the computer awake.
 */
export function signalRuns(service: Service, { window, show, texts, log }: Desktop): () => void {
  const keepAwake = new KeepAwake();
  const ended = new AbortController();
  let runs: readonly RunSummary[] = [];
  let wasAtWork = false;
  // A notification without a reference may be garbage-collected, and its click handler with it.
  const notifications = new Set<Notification>();
  const notify = (notice: Notice): void => {
    if (!service.settings.current.notifications || !Notification.isSupported()) return;
    const notification = new Notification(notice);
    notifications.add(notification);
    notification.on('click', show);
    const forget = () => notifications.delete(notification);
    notification.on('close', forget);
    notification.on('failed', (_, reason) => {
      log.write('warning', `A notification was not shown: ${reason}`);
      forget();
    });
    notification.show();
  };
  const update = (): void => {
    const atWork = runs.some(isAtWork);
    keepAwake.set(service.settings.current.keepAwake && atWork);
    if (atWork && !wasAtWork && powerMonitor.isOnBatteryPower()) {
      const t = texts();
      notify({ title: t('shell.notice.batteryTitle'), body: t('shell.notice.batteryBody') });
    }
    wasAtWork = atWork;
    const { value, mode } = taskbarProgress(runs);
    window()?.setProgressBar(value, { mode });
  };
  const follow = async (): Promise<void> => {
    for await (const all of service.list.watch(ended.signal)) {
      runs = all;
      update();
    }
  };
  void follow();
  const offSettings = service.settings.subscribe(update);
  const offRest = service.onRest((run) => {
    const notice = noticeOf(run, service.settings.current.language);
    if (!notice || window()?.isFocused()) return;
    notify(notice);
    window()?.flashFrame(true);
  });
  return () => {
    ended.abort();
    offSettings();
    offRest();
    keepAwake.set(false);
  };
}
