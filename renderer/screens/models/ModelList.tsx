import { useQuery } from '@tanstack/react-query';
import { Button, Menu, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconFileImport, IconFiles, IconFolder } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { ModelStatus } from '../../../electron/contract/index.ts';
import { sayError } from '../../state/say.ts';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { choosePaths, type Choice } from '../../state/pathChooser.ts';
import { joinDownloads, openImport, useWeights } from '../../state/computer/weights.ts';
import { ImportDialog } from './ImportDialog.tsx';
import classes from './Models.module.css';
import { ModelTile } from './ModelTile.tsx';

/** The models as tiles, and a way to add one's own. */
export function ModelList({ withTeaching = false }: { withTeaching?: boolean }) {
  const { t } = useTexts();
  const models = useQuery(queries.computer.models.queryOptions());
  const importing = useWeights((state) => state.importing);
  useEffect(() => {
    joinDownloads().catch(sayError);
  }, []);
  const real = models.data?.filter(({ kind }) => kind !== 'teaching') ?? [];
  const teaching = models.data?.filter(({ kind }) => kind === 'teaching') ?? [];
  return (
    <Guarded>
      {models.error && <ErrorCard error={models.error} />}
      {!models.data && !models.error && <Waiting rows={3} />}
      <Tiles models={real} />
      <ImportPart />
      {withTeaching && teaching.length > 0 && (
        <section>
          <Text component="h2" fz={17} fw={620} mb={8}>
            {t('models.teaching')}
          </Text>
          <Tiles models={teaching} />
        </section>
      )}
      <Guarded what="floating" resetKeys={[importing]}>
        {importing && <ImportDialog paths={importing} />}
      </Guarded>
    </Guarded>
  );
}

function Tiles({ models }: { models: readonly ModelStatus[] }) {
  return (
    <ul className={`plain-list ${classes.tiles}`}>
      {models.map((model) => (
        <ModelTile key={model.id} model={model} />
      ))}
    </ul>
  );
}

function ImportPart() {
  const { t } = useTexts();
  const pickWeights = (kind: Choice['kind']) =>
    void choosePaths({ kind, purpose: 'weights' }).then(openImport, sayError);
  const upload = useWeights((state) => state.upload);
  return (
    <section aria-label={t('models.importTitle')}>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconFileImport size={16} aria-hidden />}
            rightSection={<IconChevronDown size={16} aria-hidden />}
          >
            {t('models.importTitle')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconFiles size={16} aria-hidden />} onClick={() => pickWeights('files')}>
            {t('models.importFiles')}
          </Menu.Item>
          <Menu.Item leftSection={<IconFolder size={16} aria-hidden />} onClick={() => pickWeights('folder')}>
            {t('models.importFolder')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {upload && (
        <Stack gap={6} my={10}>
          <span className="ellipsis">{t('newRun.uploading', upload)}</span>
          <ProgressBar label={t('models.importTitle')} fraction={upload.fraction} />
        </Stack>
      )}
    </section>
  );
}
