import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { resultCountsSchema, RunSummary, SequenceFilter } from '../../../electron/contract/index.ts';
import { Box, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { Card } from '../../components/Card.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { changeView, useResultsView } from '../../state/results/resultsView.ts';
import classes from './ResultsTab.module.css';

type Counts = z.infer<typeof resultCountsSchema>;

interface CallsCardProps {
  run: RunSummary;
  counts: Counts | null;
  /** By which they were counted. */
  filter: SequenceFilter;
}

/** How many sequences got which call; a click shows only these. */
export function CallsCard({ run, counts, filter }: CallsCardProps) {
  const { t, format } = useTexts();
  const chosen = useResultsView((state) => state.predictions);
  if (!counts) return <Skeleton height={210} />;
  const calls = [
    { key: 'virus', count: counts.virus, color: 'var(--virus)' },
    { key: 'others', count: counts.others, color: 'var(--others)' },
    { key: 'not_scored', count: counts.notScored, color: 'var(--not-scored)' },
    { key: 'failed', count: counts.failed, color: 'var(--failed)' },
  ] as const;
  return (
    <Card title={t('results.calls')} aside={t('results.ofSequences', { count: counts.total })}>
      <div className={classes.composition} aria-hidden>
        {calls
          .filter((call) => call.count > 0)
          .map((call) => (
            <span key={call.key} style={{ background: call.color, flexGrow: call.count }} />
          ))}
      </div>
      <SimpleGrid component="ul" className="plain-list" cols={2} spacing={12} verticalSpacing={4}>
        {calls.map(({ key, count, color }) => {
          const isOnly = chosen.length === 1 && chosen[0] === key;
          return (
            <li key={key}>
              <button
                type="button"
                className={classes.call}
                aria-pressed={isOnly}
                onClick={() => changeView({ predictions: isOnly ? [] : [key] })}
              >
                <Box component="span" w={12} h={12} bdrs={3} style={{ background: color }} aria-hidden />
                <Text span fz="xl" fw={650}>
                  {format.integer(count)}
                </Text>
                <Text span fz="xs" c="dimmed" style={{ gridColumn: 2 }}>
                  {t(`prediction.${key}`)}
                  {counts.total > 0 && ` · ${format.percent(count / counts.total, 1)}`}
                </Text>
              </button>
            </li>
          );
        })}
      </SimpleGrid>
      <ShortOnes run={run} counts={counts} filter={filter} />
    </Card>
  );
}

/** How many of them are shorter than what the model was trained on. Nothing where none is. */
function ShortOnes({ run, counts, filter }: CallsCardProps) {
  const { t } = useTexts();
  const { runId, plan, state } = run;
  const maxLength = Math.min(filter.maxLength ?? Infinity, plan.chunkLength - 1);
  const asked = queries.results.counts.queryOptions({ input: { runId, filter: { ...filter, maxLength } } });
  const { data } = useQuery({
    ...asked,
    queryKey: [...asked.queryKey, state.phase, counts?.total],
    placeholderData: keepPreviousData,
  });
  if (!data || data.total === 0) return null;
  return (
    <Text mt={10} fz="xs" c="dimmed">
      {t('results.shortOnes', { count: data.total, length: plan.chunkLength })}{' '}
      {filter.maxLength !== maxLength && (
        <button type="button" className="link" onClick={() => changeView({ maxLength })}>
          {t('results.showThese')}
        </button>
      )}
    </Text>
  );
}
