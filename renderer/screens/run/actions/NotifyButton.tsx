import { Button } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useState } from 'react';
import { useTexts } from '../../../i18n/index.ts';
import { askForNotifications, canAskForNotifications } from '../../../state/runs/runEnds.ts';
import { useSettings } from '../../../state/settings.ts';

/** In browser mode: a page may ask to send notifications only when it is clicked. */
export function NotifyButton() {
  const { t } = useTexts();
  const isBrowser = useSettings((state) => state.info?.shell === 'browser');
  const [canAsk, setCanAsk] = useState(canAskForNotifications);
  if (!isBrowser || !canAsk) return null;
  const ask = async () => {
    await askForNotifications(t);
    setCanAsk(canAskForNotifications());
  };
  return (
    <Button
      variant="subtle"
      color="slate"
      leftSection={<IconBell size={16} aria-hidden />}
      onClick={() => void ask()}
    >
      {t('run.notify')}
    </Button>
  );
}
