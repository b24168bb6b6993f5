import { Button } from '@mantine/core';
import { IconFolderDown, IconFolderSymlink } from '@tabler/icons-react';
import { sayError } from '../../components/feedback/errorToast.tsx';
import { useTexts } from '../../i18n/index.ts';
import { lacksEnvironment, useEnvironment } from '../../state/computer/environment.ts';
import { chooseOfflineFolder, openPacking } from '../../state/computer/offline.ts';

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

/** What packs needs the Python of this computer. */
export function MakeFolderButton({ size = 'sm' }: { size?: 'sm' | 'compact-sm' }) {
  const { t } = useTexts();
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  return (
    <Button
      variant="default"
      size={size}
      disabled={lacks}
      leftSection={<IconFolderDown size={16} aria-hidden />}
      onClick={openPacking}
    >
      {t('offline.make')}
    </Button>
  );
}
