import type { RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { Facts } from '../../components/Facts.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import classes from './ProgressTab.module.css';

/** What decides the numbers of this run, as it was fixed at the start; what only few ask for is folded away. */
export function PlanCard({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { plan } = run;
  const parts = useLiveRun((state) => state.live?.progress.parts);
  const speed = useLiveRun((state) => state.live?.progress.residuesPerSecond ?? null);
  return (
    <Card title={t('plan.title')} aside={t('plan.hint')}>
      <Facts
        size="small"
        items={[
          { label: t('newRun.model'), value: plan.model.title },
          { label: t('plan.chunkLength'), value: format.bases(plan.chunkLength) },
          { label: t('plan.created'), value: format.dateTime(run.createdAt) },
        ]}
      />
      <details className={classes.technical}>
        <summary>{t('plan.technical')}</summary>
        <Facts
          size="small"
          items={[
            { label: t('advanced.precision'), value: t(`precision.${plan.precision}`) },
            {
              label: t('progress.parts'),
              value: parts
                ? t('common.of', { part: format.integer(parts.done), whole: format.integer(parts.total) })
                : '–',
            },
            { label: t('plan.residuesPerSecond'), value: speed === null ? '–' : format.rate(speed) },
            { label: t('advanced.tokensPerBatch'), value: format.integer(plan.tokensPerBatch) },
            { label: t('advanced.partSize'), value: format.integer(plan.residuesPerPart) },
            {
              label: t('plan.equalSequences'),
              value: t(plan.embedEqualSequencesOnce ? 'plan.equalOnce' : 'plan.equalEach'),
            },
            { label: t('advanced.embeddings'), value: t(`embeddings.${plan.embeddings ?? 'none'}`) },
          ]}
        />
      </details>
    </Card>
  );
}
