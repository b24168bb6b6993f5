import { useMutation } from '@tanstack/react-query';
import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconDna2, IconFileImport, IconPlayerPlay } from '@tabler/icons-react';
import { PickButtons } from './files/PickButtons.tsx';
import { useTexts } from '../../i18n/index.ts';
import { runExample } from '../../state/computer/environment.ts';

/** The empty screen: where to drop files, and what to do without any. */
export function NothingYet() {
  const { t } = useTexts();
  const example = useMutation({ mutationFn: () => runExample() });
  return (
    <Stack gap={20}>
      <Stack
        component="section"
        {...{ gap: 6, align: 'center', justify: 'center', ta: 'center', mih: 'max(300px, 42vh)' }}
        {...{ px: 24, py: 40, bd: '2px dashed var(--line-strong)', bdrs: 16, bg: 'var(--surface)' }}
        aria-labelledby="drop-title"
      >
        <IconFileImport color="var(--accent)" size={44} stroke={1.3} aria-hidden />
        <Text component="h2" fz="xl" fw={620} id="drop-title">
          {t('newRun.drop')}
        </Text>
        <Text mb={14} c="dimmed" maw="56ch">
          {t('newRun.formats')}
        </Text>
        <PickButtons primary />
      </Stack>
      <Group
        component="section"
        {...{ gap: '12px 16px', px: 20, py: 18, bd: '1px solid var(--line)', bdrs: 12, bg: 'var(--surface)' }}
        aria-labelledby="example-title"
      >
        <IconDna2 color="var(--accent)" size={28} stroke={1.5} style={{ flex: 'none' }} aria-hidden />
        <Box flex="1 1 240px" miw={0}>
          <Text component="h2" fz={15} fw={620} id="example-title">
            {t('newRun.exampleTitle')}
          </Text>
          <Text mt={2} fz="sm" c="dimmed">
            {t('newRun.exampleText')}
          </Text>
        </Box>
        {/* It wraps to a line of its own if the text would be squeezed. */}
        <Button
          ml="auto"
          variant="light"
          loading={example.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => example.mutate()}
        >
          {t('newRun.runExample')}
        </Button>
      </Group>
    </Stack>
  );
}
