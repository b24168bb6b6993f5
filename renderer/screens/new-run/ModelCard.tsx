import { Button, Radio, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ModelStatus } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { go } from '../../state/navigation.ts';
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import type { NewRunForm } from './useNewRunForm.ts';

export function ModelCard({ form }: { form: NewRunForm }) {
  const texts = useTexts();
  const { t, format } = texts;
  const { models, model, advice } = form;
  const take = (id: string) => {
    const entry = models.data?.find((each) => each.id === id);
    if (entry && entry.notice !== null) confirmTeaching(texts, entry);
    else choose({ model: id });
  };
  return (
    <Card title={t('newRun.model')}>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting like="choices" rows={3} />}
      {advice && models.data && (
        <Text mb={12} maw="72ch" role="status">
          {t(`modelAdvice.${advice.fit}`, {
            typical: format.bases(advice.typicalLength),
            length: advice.chunkLength,
          })}
        </Text>
      )}
      <Radio.Group value={model?.id ?? null} onChange={take} aria-label={t('newRun.model')}>
        <Stack gap={8}>
          {models.data?.map((entry) => {
            const title = modelTitle(entry, texts);
            const isAdvised = entry.notice === null && entry.chunkLength === advice?.chunkLength;
            return (
              <div key={entry.id} className={classes.choice} data-chosen={entry.id === model?.id}>
                <Radio
                  value={entry.id}
                  disabled={!entry.present}
                  label={isAdvised ? `${title} · ${t('modelAdvice.advised')}` : title}
                  description={
                    entry.notice === null
                      ? t(entry.chunkLength <= 300 ? 'newRun.modelShort' : 'newRun.modelLong', {
                          length: entry.chunkLength,
                        })
                      : modelNotice(entry, texts)
                  }
                />
                {!entry.present && (
                  <Button
                    size="compact-sm"
                    style={{ flex: 'none' }}
                    variant={isAdvised ? 'filled' : 'light'}
                    onClick={() => go({ screen: 'computer' })}
                    aria-label={`${t('newRun.getModel')}: ${title}`}
                  >
                    {entry.downloadBytes === null
                      ? t('newRun.getModel')
                      : t('newRun.getModelSize', { size: format.fileSize(entry.downloadBytes) })}
                  </Button>
                )}
              </div>
            );
          })}
        </Stack>
      </Radio.Group>
    </Card>
  );
}

/** Numbers that mean nothing must not be taken for results by mistake. */
function confirmTeaching({ t }: Texts, model: ModelStatus): void {
  modals.openConfirmModal({
    title: t('teaching.confirmTitle'),
    children: t('teaching.confirmText'),
    labels: { confirm: t('teaching.confirm'), cancel: t('common.cancel') },
    onConfirm: () => choose({ model: model.id }),
  });
}
