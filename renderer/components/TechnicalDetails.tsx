import { Box, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n/index.ts';

/** What only few ask for, folded away; one of these per screen. */
export function TechnicalDetails({ children }: { children: ReactNode }) {
  const { t } = useTexts();
  return (
    <Box component="details" mt={12}>
      <Text component="summary" mb={8} fz="sm" c="dimmed">
        {t('plan.technical')}
      </Text>
      {children}
    </Box>
  );
}
