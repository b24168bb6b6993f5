import { asSentence } from '../../i18n/format.ts';
import { Button, Radio, Skeleton, Stack } from '@mantine/core';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { go } from '../../state/navigation.ts';
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import type { NewRunForm } from './useNewRunForm.ts';

export function ModelCard({ form }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const { models, model } = form;
  return (
    <Card title={t('newRun.model')}>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Skeleton height={88} />}
      <Radio.Group
        value={model?.id ?? null}
        onChange={(id) => choose({ model: id })}
        aria-label={t('newRun.model')}
      >
        <Stack gap={8}>
          {models.data?.map((entry) => (
            <div key={entry.id} className={classes.choice} data-chosen={entry.id === model?.id}>
              <Radio
                value={entry.id}
                label={entry.title}
                description={
                  entry.notice === null
                    ? t(entry.chunkLength <= 300 ? 'newRun.modelShort' : 'newRun.modelLong', {
                        length: entry.chunkLength,
                      })
                    : asSentence(entry.notice)
                }
              />
              {!entry.present && (
                <Button size="compact-sm" variant="light" onClick={() => go({ screen: 'computer' })}>
                  {entry.downloadBytes === null
                    ? t('newRun.getModel')
                    : t('newRun.getModelSize', { size: format.fileSize(entry.downloadBytes) })}
                </Button>
              )}
            </div>
          ))}
        </Stack>
      </Radio.Group>
    </Card>
  );
}
