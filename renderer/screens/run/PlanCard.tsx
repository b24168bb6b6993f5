import type { RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { Facts } from '../../components/Facts.tsx';
import { useTexts } from '../../i18n/index.ts';

/** What decides the numbers of this run, as it was fixed at the start. */
export function PlanCard({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const { plan } = run;
  return (
    <Card title={t('plan.title')} aside={t('plan.hint')}>
      <Facts
        size="small"
        items={[
          { label: t('newRun.model'), value: plan.model.title },
          { label: t('plan.chunkLength'), value: format.bases(plan.chunkLength) },
          { label: t('advanced.precision'), value: t(`precision.${plan.precision}`) },
          { label: t('advanced.tokensPerBatch'), value: format.integer(plan.tokensPerBatch) },
          { label: t('advanced.partSize'), value: format.integer(plan.residuesPerPart) },
          {
            label: t('plan.equalSequences'),
            value: t(plan.embedEqualSequencesOnce ? 'plan.equalOnce' : 'plan.equalEach'),
          },
          { label: t('advanced.embeddings'), value: t(`embeddings.${plan.embeddings ?? 'none'}`) },
          { label: t('plan.created'), value: format.dateTime(run.createdAt) },
        ]}
      />
    </Card>
  );
}
