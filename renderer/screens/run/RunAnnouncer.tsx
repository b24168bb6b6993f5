import { useEffect, useRef } from 'react';
import { announce } from '../../components/feedback/Announcer.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useLiveRun } from '../../state/runs/liveRun.ts';
import { runStatus } from '../../state/runs/runStatus.ts';

/** Tells screen readers of every tenth done and of every change of state; not of more, or they never fall silent. */
export function RunAnnouncer() {
  const { t, format } = useTexts();
  const tenth = useLiveRun((state) => {
    const fraction = state.live?.progress.fraction ?? null;
    return fraction === null ? null : Math.floor(fraction * 10) / 10;
  });
  const status = useLiveRun((state) => (state.live ? runStatus(state.live.run) : null));
  const isFirst = useRef(true);
  useEffect(() => {
    if (status === null) return;
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    announce(
      tenth === null || status !== 'running'
        ? t(`runState.${status}`)
        : t('run.announceProgress', { percent: format.percent(tenth) }),
    );
  }, [tenth, status, t, format]);
  return null;
}
