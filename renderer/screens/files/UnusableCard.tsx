import { Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { fileName } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { whileInWork } from './whileInWork.ts';

const MOST_SHOWN = 50;

/** The files that the run goes on without, each with its reason. */
export function UnusableCard({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { data } = useQuery({
    ...queries.runs.inputs.queryOptions({ input: { runId: run.runId, offset: 0, limit: 1 } }),
    ...whileInWork(run),
  });
  if (!data || data.unusable.length === 0) return null;
  const count = data.unusable.length;
  return (
    <Card tone="bad" title={t('files.unusable', { count })}>
      <Text mt={-4} mb={12} c="dimmed">
        {t('files.unusableText')}
      </Text>
      <Stack component="ul" className="plain-list" gap={12}>
        {data.unusable.slice(0, MOST_SHOWN).map(({ path, error }) => (
          <Paper component="li" withBorder radius={10} px={14} py={12} key={path}>
            <Group gap={12} mb={8} align="baseline" style={{ overflowWrap: 'anywhere' }}>
              <b title={path}>{fileName(path)}</b>
            </Group>
            <ErrorCard error={error} bare />
          </Paper>
        ))}
      </Stack>
      {count > MOST_SHOWN && (
        <p className="muted">{t('files.moreUnusable', { count: count - MOST_SHOWN })}</p>
      )}
    </Card>
  );
}
