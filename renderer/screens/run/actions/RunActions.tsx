import { Button } from '@mantine/core';
import { IconBell, IconPlayerPlay, IconTable } from '@tabler/icons-react';
import { useState } from 'react';
import { useTexts } from '../../../i18n/index.ts';
import { askForNotifications, canAskForNotifications } from '../../../state/runs/runEnds.ts';
import { useSettings } from '../../../state/settings.ts';
import { useMutation } from '@tanstack/react-query';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { goToRun, type RunTab } from '../../../state/navigation.ts';
import { prepareAgain } from '../../../state/newRun/prepareAgain.ts';
import { runStatus } from '../../../state/runs/runStatus.ts';
import { StopActions } from './StopActions.tsx';
import { resumeRun } from '../../../state/runs/runOrders.ts';
import { useRunOrder } from './useRunOrder.ts';

interface RunActionsProps {
  run: RunSummary;
  /** The current tab: no button leads to it. */
  tab: RunTab;
}

/** What can be done with a run as it stands. One that is done leads to its results. */
export function RunActions({ run, tab }: RunActionsProps) {
  const { t } = useTexts();
  const { runId } = run;
  const order = useRunOrder(runId);
  const resume = useMutation({ mutationFn: resumeRun });
  const status = runStatus(run);

  // Where a banner says what is the matter, the button to go on stands in it.
  if (status === 'halted' || status === 'interrupted' || status === 'failed') {
    return <AgainButton run={run} />;
  }
  if (status === 'paused' || status === 'cancelled') {
    return (
      <>
        <AgainButton run={run} />
        <Button
          loading={resume.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => resume.mutate(run)}
        >
          {t('run.continue')}
        </Button>
      </>
    );
  }
  if (status === 'done' || status === 'done_with_failures') {
    return (
      <>
        <AgainButton run={run} />
        {tab !== 'results' && (
          <Button leftSection={<IconTable size={16} aria-hidden />} onClick={() => goToRun(runId, 'results')}>
            {t('run.seeResults')}
          </Button>
        )}
      </>
    );
  }
  if (status === 'queued') {
    return (
      <Button variant="default" loading={order.isPending} onClick={() => order.mutate('cancel')}>
        {t('run.leaveQueue')}
      </Button>
    );
  }
  if (status === 'missing' || status === 'finishing') return null;

  return (
    <>
      <NotifyButton />
      <StopActions run={run} running={status === 'running' || status === 'created'} />
    </>
  );
}

function AgainButton({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const again = useMutation({ mutationFn: prepareAgain });
  return (
    <Button variant="default" loading={again.isPending} onClick={() => again.mutate(run)}>
      {t('run.again')}
    </Button>
  );
}

/** In browser mode: a page may ask to send notifications only when it is clicked. */
function NotifyButton() {
  const { t } = useTexts();
  const isBrowser = useSettings((state) => state.info?.shell === 'browser');
  const [canAsk, setCanAsk] = useState(canAskForNotifications);
  if (!isBrowser || !canAsk) return null;
  const ask = async () => {
    await askForNotifications(t);
    setCanAsk(canAskForNotifications());
  };
  return (
    <Button
      variant="subtle"
      color="slate"
      leftSection={<IconBell size={16} aria-hidden />}
      onClick={() => void ask()}
    >
      {t('run.notify')}
    </Button>
  );
}
