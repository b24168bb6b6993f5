import { asSentence } from '../../i18n/format.ts';
import { queries } from '../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconDownload } from '@tabler/icons-react';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Badge } from '../../components/StateBadge.tsx';
import { useTexts } from '../../i18n/index.ts';
import classes from './ComputerCheck.module.css';

/** Which models are here, and what getting the others would fetch. */
export function ModelsCard({ onGet }: { onGet: (model: string) => void }) {
  const { t, format } = useTexts();
  const models = useQuery(queries.computer.models.queryOptions());
  return (
    <Card title={t('computer.models')} aside={t('computer.modelsHint')}>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Skeleton height={140} />}
      <ul className={classes.models}>
        {models.data?.map((model) => (
          <li key={model.id} className={classes.model}>
            <div>
              <b>{model.title}</b>
              <div className="muted">
                {model.problem?.cause ??
                  (model.notice === null
                    ? t('computer.chunks', { length: format.bases(model.chunkLength) })
                    : asSentence(model.notice))}
              </div>
            </div>
            {model.problem ? (
              <Badge tone="bad" icon={IconAlertTriangle}>
                {t('computer.modelDamaged')}
              </Badge>
            ) : model.present ? (
              <Badge tone="good" icon={IconCircleCheck}>
                {t('computer.modelPresent')}
              </Badge>
            ) : (
              <span className="muted">
                {model.downloadBytes === null ? '' : format.fileSize(model.downloadBytes)}
              </span>
            )}
            {!model.present || model.problem ? (
              <Button
                size="compact-sm"
                leftSection={<IconDownload size={16} aria-hidden />}
                onClick={() => onGet(model.id)}
                aria-label={`${t('computer.getModel')}: ${model.title}`}
              >
                {t('computer.getModel')}
              </Button>
            ) : (
              <span />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
