import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { goalText, type RunProgress, type RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { go } from '../../state/navigation.ts';
import { resumeRun, runStatus, useRuns } from '../../state/runs/runs.ts';
import { useLiveRun } from '../../state/runs/liveRun.ts';

/** What keeps a run from going on, shown above everything else about it, with a button that deals with it. */
export function RunBanners({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { isPending: busy, mutate: start } = useMutation({ mutationFn: resumeRun });
  const button = (label: 'common.continue' | 'goal.computeRest' | 'run.startNow') => (
    <Button size="compact-md" loading={busy} onClick={() => start(run)}>
      {t(label)}
    </Button>
  );
  // Waiting runs start one after the other by themselves, but after the program starts, the first one waits for a click.
  const isHeld = useRuns((all) => all.runs?.some(isAtWork) === false);
  const { state } = run;
  switch (runStatus(run)) {
    case 'interrupted':
      return (
        <Banner tone="warn" title={t('run.interruptedTitle')} actions={button('common.continue')}>
          {t('run.interruptedText')}
        </Banner>
      );
    case 'missing':
      return (
        <Banner tone="warn" title={t('run.missingTitle')}>
          {t('run.missingText', { folder: run.folder })}
        </Banner>
      );
    case 'paused':
      return state.phase === 'paused' && state.enough ? (
        <Banner
          tone="info"
          title={t('goal.reached', { goal: goalText(state.enough) })}
          actions={button('goal.computeRest')}
        >
          {t('goal.reachedText')}
        </Banner>
      ) : null;
    case 'halted':
      return state.phase === 'paused' && state.error ? (
        <ErrorCard error={state.error} actions={button('common.continue')} />
      ) : null;
    case 'failed':
      return state.phase === 'failed' ? (
        <ErrorCard error={state.error} actions={button('common.continue')} />
      ) : null;
    case 'queued':
      return isHeld ? (
        <Banner tone="info" title={t('run.heldTitle')} actions={button('run.startNow')}>
          {t('run.heldText')}
        </Banner>
      ) : null;
    default:
      return null;
  }
}

type EncoderNorms = NonNullable<RunProgress['unusualNorms']>['esm2'];

/** A few unusual sequences have unusual embeddings even on a sound device: below this share, only the run's settings mention them. */
const LEAST_SHARE = 0.01;

/** Embeddings of unusual size do not stop a run, but may be the only sign of a device that computes wrongly. */
export function NormsBanner() {
  const { t, format } = useTexts();
  const norms = useLiveRun((state) => state.live?.progress.unusualNorms ?? null);
  if (norms === null || norms.frames < LEAST_SHARE * norms.ofFrames) return null;
  const { frames, ofFrames, esm2, dnabertS } = norms;
  const range = (low: number, high: number) => `${format.decimal(low)}–${format.decimal(high)}`;
  const found = ({ low, high }: EncoderNorms) => range(low, high);
  const expected = ({ expectedLow, expectedHigh }: EncoderNorms) => range(expectedLow, expectedHigh);
  return (
    <Banner
      tone="warn"
      title={t('run.normsTitle', { frames })}
      actions={
        <Button size="compact-md" variant="default" onClick={() => go({ screen: 'computer' })}>
          {t('run.normsCheck')}
        </Button>
      }
    >
      {t('run.normsText', {
        share: format.percent(ofFrames === 0 ? 0 : frames / ofFrames, 2),
        esm2: found(esm2),
        esm2Expected: expected(esm2),
        dnabertS: found(dnabertS),
        dnabertSExpected: expected(dnabertS),
      })}
    </Banner>
  );
}
