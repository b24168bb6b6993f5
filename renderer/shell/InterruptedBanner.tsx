import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { Banner } from '../components/feedback/Banner.tsx';
import { useTexts } from '../i18n/index.ts';
import { goToRun, useNavigation } from '../state/navigation.ts';
import { resumeRun, useRuns } from '../state/runs/runs.ts';

/** After a crash, asks on any screen whether to resume the run that was cut off. The run's own screen asks by itself. */
export function InterruptedBanner() {
  const { t, format } = useTexts();
  const route = useNavigation((state) => state.route);
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  const interrupted = useRuns(
    useShallow((state) => state.runs?.filter((run) => run.interrupted && !run.missing) ?? []),
  );
  const resume = useMutation({
    mutationFn: resumeRun,
    onSuccess: (_resumed, { runId }) => goToRun(runId),
  });
  const run = interrupted.find((candidate) => !dismissed.includes(candidate.runId));
  if (!run || (route.screen === 'run' && route.runId === run.runId)) return null;
  return (
    <Banner
      tone="warn"
      title={t('interrupted.title', { name: run.name })}
      actions={
        <>
          <Button size="compact-sm" loading={resume.isPending} onClick={() => resume.mutate(run)}>
            {t('common.continue')}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setDismissed([...dismissed, run.runId])}>
            {t('interrupted.later')}
          </Button>
        </>
      }
    >
      {run.fraction === null
        ? t('interrupted.kept')
        : t('interrupted.keptPercent', { percent: format.progress(run.fraction) })}
    </Banner>
  );
}
