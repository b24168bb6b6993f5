import { useQuery } from '@tanstack/react-query';
import { Button, Group, Stack } from '@mantine/core';
import { IconFiles, IconFolder } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Card } from '../../components/Card.tsx';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { choosePaths, type Choice } from '../../state/pathChooser.ts';
import { joinDownloads, openImport, useWeights } from '../../state/computer/weights.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { ModelRow } from './ModelRow.tsx';

/** Which models are here; getting, importing, checking and removing them. */
export function ModelsCard() {
  const { t } = useTexts();
  const models = useQuery(queries.computer.models.queryOptions());
  const importing = useWeights((state) => state.importing);
  const upload = useWeights((state) => state.upload);
  useEffect(() => {
    joinDownloads().catch(sayError);
  }, []);
  const pick = (kind: Choice['kind']) => {
    choosePaths({ kind, purpose: 'weights' }).then(openImport, sayError);
  };
  return (
    <Card title={t('computer.models')} aside={t('computer.modelsHint')}>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting like="choices" rows={3} />}
      <ul className="plain-list">
        {models.data?.map((model) => (
          <ModelRow key={model.id} model={model} />
        ))}
      </ul>
      <Group justify="space-between" gap="6px 12px" pt={14}>
        <p className="muted">{t('models.importHint')}</p>
        <Group gap="sm">
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconFiles size={16} aria-hidden />}
            onClick={() => pick('files')}
          >
            {t('models.importFiles')}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconFolder size={16} aria-hidden />}
            onClick={() => pick('folder')}
          >
            {t('models.importFolder')}
          </Button>
        </Group>
      </Group>
      {upload && (
        <Stack gap={6} my={10}>
          <span className="ellipsis">{t('newRun.uploading', { name: upload.name })}</span>
          <ProgressBar label={upload.name} fraction={upload.fraction} />
        </Stack>
      )}
      {importing && <ImportDialog paths={importing} />}
    </Card>
  );
}
