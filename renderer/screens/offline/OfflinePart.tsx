import { Button, Text } from '@mantine/core';
import { IconFolderSymlink } from '@tabler/icons-react';
import { Fold } from '../../components/Fold.tsx';
import { sayError } from '../../state/say.ts';
import { useTexts } from '../../i18n/index.ts';
import { chooseOfflineFolder } from '../../state/computer/offline.ts';

/** Sets up from a folder instead of the network. */
export function OfflinePart() {
  const { t } = useTexts();
  return (
    <Fold title={t('offline.title')}>
      <Text mb={12} maw="72ch">
        {t('offline.text')}
      </Text>
      <UseFolderButton size="compact-sm" />
    </Fold>
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
