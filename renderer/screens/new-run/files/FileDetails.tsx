import { Anchor, CloseButton, Group, Paper, Stack, Text } from '@mantine/core';
import { fileName } from '../../../i18n/names.ts';
import { useMemo } from 'react';
import { ProblemList } from '../../../components/files/ProblemList.tsx';
import { Facts } from '../../../components/Facts.tsx';
import { oneTwoFive } from '../../../components/charts/axes.ts';
import { Histogram } from '../../../components/charts/Histogram.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { goToRun } from '../../../state/navigation.ts';
import {
  type ListedFile,
  lengthBins,
  problemsOf,
  repeatedFiles,
  verdictOf,
} from '../../../state/newRun/inspection.ts';
import { selectFile, useNewRun } from '../../../state/newRun/store.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import classes from './FilesCard.module.css';

const HISTOGRAM_PX = 138;

/** One file of the preview: its figures, its lengths, and each problem with its effect. */
export function FileDetails({ file, chunkLength }: { file: ListedFile; chunkLength: number }) {
  const { t, format } = useTexts();
  const files = useNewRun((state) => state.files);
  const runs = useRuns((state) => state.runs);
  const { inspected } = file;
  const bins = useMemo(() => (inspected ? lengthBins(inspected) : []), [inspected]);
  if (!inspected) return null;

  const name = fileName(file.path);
  const isBlocked = verdictOf(file) === 'blocked';
  const original = repeatedFiles(files).get(file.path);
  const earlier = runs?.find(
    (run) => run.state.phase === 'done' && run.plan.inputs.some((input) => input.sha256 === inspected.sha256),
  );
  return (
    <Stack component="section" className={classes.details ?? ''} gap={12} tabIndex={0} aria-label={name}>
      <Group gap={8} justify="space-between" align="flex-start" wrap="nowrap">
        <Text component="h3" fz={15} fw={620} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <CloseButton size="sm" aria-label={t('common.close')} onClick={() => selectFile(file.path)} />
      </Group>
      <ProblemList problems={problemsOf(inspected, chunkLength)} />
      {!isBlocked && (
        <Facts
          size="small"
          items={[
            { label: t('newRun.format'), value: t(`format.${inspected.format}`) },
            { label: t('newRun.size'), value: format.fileSize(inspected.size_bytes) },
            { label: t('newRun.shortest'), value: format.bases(inspected.min_length) },
            { label: t('newRun.median'), value: format.bases(inspected.median_length) },
            { label: t('newRun.longest'), value: format.bases(inspected.max_length) },
            {
              label: t('newRun.ambiguous'),
              value: format.percent(inspected.ambiguous_fraction, 1),
              hint: t('newRun.ambiguousHint'),
            },
          ]}
        />
      )}
      {original !== undefined && (
        <Paper component="p" px={12} py={8} radius="md" bg="var(--accent-soft)">
          {t('newRun.sameContent', { name: fileName(original) })}
        </Paper>
      )}
      {earlier && (
        <Paper component="p" px={12} py={8} radius="md" bg="var(--accent-soft)">
          {t('newRun.analysedBefore', { date: format.dateTime(earlier.createdAt) })}{' '}
          <Anchor component="button" type="button" onClick={() => goToRun(earlier.runId, 'results')}>
            {earlier.name}
          </Anchor>
        </Paper>
      )}
      {!isBlocked && bins.length > 0 && inspected.sequences > 0 && (
        <div>
          <Text mb={2} fz="sm" c="dimmed">
            {t('newRun.lengths')}
          </Text>
          <Histogram
            title={t('newRun.lengths')}
            summary={t('newRun.lengthsSummary', {
              min: format.bases(inspected.min_length),
              median: format.bases(inspected.median_length),
              max: format.bases(inspected.max_length),
            })}
            bins={bins}
            formatBorder={format.bases}
            countLabel={t('results.sequences')}
            height={HISTOGRAM_PX}
            color={({ to }) => (to <= chunkLength ? 'var(--not-scored)' : 'var(--others)')}
            ticks={oneTwoFive(bins[0]?.from ?? 1, bins.at(-1)?.to ?? 10)}
            line={{ at: chunkLength, label: t('newRun.chunkLine', { length: format.bases(chunkLength) }) }}
          />
        </div>
      )}
    </Stack>
  );
}
