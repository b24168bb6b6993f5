import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, Text } from '@mantine/core';
import { IconFolderDown, IconFolderSymlink } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Banner } from '../../components/feedback/Banner.tsx';
import { Fold } from '../../components/Fold.tsx';
import { sayError } from '../../state/say.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import {
  cancelPacking,
  chooseOfflineFolder,
  forgetPacking,
  joinPacking,
  openPacking,
  packOffline,
  useOffline,
  type Packing,
} from '../../state/computer/offline.ts';
import { WorkProgress } from '../../components/WorkProgress.tsx';

/** Sets up from a folder instead of the network, and packs such a folder for another computer. */
export function OfflinePart() {
  const { t } = useTexts();
  const packing = useOffline((state) => state.packing);
  useEffect(() => {
    joinPacking().catch(sayError);
  }, []);
  return (
    <Fold title={t('offline.title')} opened={packing !== null}>
      <Text mb={12} maw="72ch">
        {t('offline.text')}
      </Text>
      <Group gap="sm">
        <UseFolderButton size="compact-sm" />
        <MakeFolderButton size="compact-sm" />
      </Group>
      {packing && <PackingState packing={packing} />}
    </Fold>
  );
}

function PackingState({ packing: { choice, progress, error, done } }: { packing: Packing }) {
  const { t } = useTexts();
  const cancel = useMutation({ mutationFn: cancelPacking });
  const { folder } = choice;
  if (done)
    return (
      <Banner
        tone="good"
        title={t('offline.packed')}
        actions={
          <Button variant="default" size="compact-sm" onClick={forgetPacking}>
            {t('common.close')}
          </Button>
        }
      >
        {t('offline.packedText', { folder })}
      </Banner>
    );
  if (error !== null)
    return (
      <Box mt={16}>
        <ErrorCard
          error={error}
          actions={
            <>
              <Button size="compact-sm" onClick={() => void packOffline(choice)}>
                {t('common.tryAgain')}
              </Button>
              <Button size="compact-sm" variant="default" onClick={openPacking}>
                {t('offline.change')}
              </Button>
            </>
          }
        />
      </Box>
    );
  return (
    <Box component="section" mt={16} aria-label={t('offline.packing', { folder })}>
      <Text mb={12} fw="bold" maw="72ch" style={{ overflowWrap: 'anywhere' }}>
        {t('offline.packing', { folder })}
      </Text>
      <WorkProgress progress={progress} />
      <Group gap="sm">
        <Button
          size="compact-sm"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          {t('common.cancel')}
        </Button>
        <span className="muted">{t('offline.cancelKeeps')}</span>
      </Group>
    </Box>
  );
}

export function UseFolderButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTexts();
  return (
    <Button
      variant="default"
      size={size}
      leftSection={<IconFolderSymlink size={16} aria-hidden />}
      onClick={() => void chooseOfflineFolder().catch(sayError)}
    >
      {t('offline.use')}
    </Button>
  );
}

export function MakeFolderButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTexts();
  return (
    <Button
      variant="default"
      size={size}
      leftSection={<IconFolderDown size={16} aria-hidden />}
      onClick={openPacking}
    >
      {t('offline.make')}
    </Button>
  );
}
