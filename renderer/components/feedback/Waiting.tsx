import { Skeleton, Stack } from '@mantine/core';
import { useTexts } from '../../i18n/index.ts';

/** An outline of about the height of what is loading. */
export function Waiting({ rows = 1 }: { rows?: number }) {
  const { t } = useTexts();
  return (
    <Stack gap={12} miw={0} pos="relative" role="status">
      <span className="visually-hidden">{t('common.loading')}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={42} radius={10} />
      ))}
    </Stack>
  );
}
