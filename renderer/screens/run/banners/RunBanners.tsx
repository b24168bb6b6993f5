import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { goToRun } from '../../../state/navigation.ts';
import { openRunDialog } from '../../../state/runs/runDialog.ts';
import { resumeRun } from '../../../state/runs/runOrders.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import { runStatus } from '../../../state/runs/runStatus.ts';

/** What stands in a run's way, above everything else about it, with the button that deals with it. */
export function RunBanners({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { isPending: busy, mutate: start } = useMutation({ mutationFn: resumeRun });
  const button = (
    <>
      <Button size="compact-md" loading={busy} onClick={() => start(run)}>
        {t('run.continue')}
      </Button>
      <Button size="compact-md" variant="default" onClick={() => openRunDialog(run.runId, 'devices')}>
        {t('run.continueElsewhere')}
      </Button>
    </>
  );
  // Waiting runs follow each other by themselves, but the first after the program starts waits for a click.
  const isHeld = useRuns((all) => all.runs?.some(isAtWork) === false);
  const { state } = run;
  switch (runStatus(run)) {
    case 'interrupted':
      return (
        <Banner tone="warn" title={t('run.interruptedTitle')} actions={button}>
          {t('run.interruptedText')}
        </Banner>
      );
    case 'missing':
      return (
        <Banner tone="warn" title={t('run.missingTitle')}>
          {t('run.missingText', { folder: run.folder })}
        </Banner>
      );
    case 'halted':
      return state.phase === 'paused' && state.error ? (
        <ErrorCard error={state.error} actions={button} />
      ) : null;
    case 'failed':
      return state.phase === 'failed' ? <ErrorCard error={state.error} actions={button} /> : null;
    case 'done_with_failures':
      return state.phase === 'done' ? (
        <Banner
          tone="warn"
          title={t('run.doneWithFailuresTitle')}
          actions={
            <Button size="compact-md" variant="default" onClick={() => goToRun(run.runId, 'files')}>
              {t('run.seeFailures')}
            </Button>
          }
        >
          {t('run.doneWithFailuresText', {
            files: state.failedInputs ?? 0,
            parts: state.failedParts,
            records: state.failedRecords,
          })}
        </Banner>
      ) : null;
    case 'queued':
      return isHeld ? (
        <Banner
          tone="info"
          title={t('run.heldTitle')}
          actions={
            <Button size="compact-md" loading={busy} onClick={() => start(run)}>
              {t('run.startNow')}
            </Button>
          }
        >
          {t('run.heldText')}
        </Banner>
      ) : (
        <Banner tone="info" title={t('run.queuedTitle')}>
          {t('run.queuedText', { position: (run.queuePosition ?? 0) + 1 })}
        </Banner>
      );
    default:
      return null;
  }
}
