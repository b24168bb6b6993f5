import { Button, Stack, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTexts } from '../i18n/index.ts';

/** In browser mode: the address was used, or lacks its token. */
export function Refused() {
  const { t } = useTexts();
  const hasToken = new URLSearchParams(location.search).has('token');
  return (
    <Stack component="main" mih="100%" gap={4} p={24} align="center" justify="center" ta="center">
      <IconLock size={44} stroke={1.3} aria-hidden />
      <Text component="h1" mt={12} mb={6} fz={24} fw={650}>
        {t(hasToken ? 'refused.used' : 'refused.title')}
      </Text>
      <Text mb={10} maw="56ch">
        {t(hasToken ? 'refused.usedCause' : 'refused.cause')}
      </Text>
      <Text mb={10} maw="56ch">
        {t('refused.next')}
      </Text>
      <Button variant="default" onClick={() => location.reload()}>
        {t('common.tryAgain')}
      </Button>
    </Stack>
  );
}
