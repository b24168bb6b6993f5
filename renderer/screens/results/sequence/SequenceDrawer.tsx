import { fileName } from '../../../i18n/format.ts';
import { queries } from '../../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Drawer, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { SHORTEST_LENGTH, type ChunkResult, type RunSummary } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { ChunkTrack } from '../../../components/charts/ChunkTrack.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { Facts } from '../../../components/Facts.tsx';
import { modelNotice } from '../../../state/computer/modelTexts.ts';
import { useTexts } from '../../../i18n/index.ts';
import { changeView, useResultsView } from '../../../state/results/resultsView.ts';
import { ChunkTable } from './ChunkTable.tsx';
import { EvidenceLabel, PredictionLabel } from '../callLabels.tsx';
import { evidenceRule } from '../table/evidenceRule.ts';
import { SequenceLetters } from './SequenceLetters.tsx';
import { SequenceNotes } from './SequenceNotes.tsx';
import { SequenceSteps } from './SequenceSteps.tsx';
import classes from './SequenceDrawer.module.css';

/** One sequence: its call, and the scores of its chunks along it. */
export function SequenceDrawer({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const row = useResultsView((state) => (state.runId === run.runId ? state.openRow : null));
  return (
    <Drawer
      opened={row !== null}
      onClose={() => changeView({ openRow: null })}
      position="right"
      size={620}
      title={t('chunks.title')}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      {row !== null && (
        <>
          <SequenceSteps run={run} row={row} />
          <SequenceDetails key={row} run={run} row={row} />
        </>
      )}
    </Drawer>
  );
}

function SequenceDetails({ run, row }: { run: RunSummary; row: number }) {
  const texts = useTexts();
  const { t, format } = texts;
  const [picked, setPicked] = useState<ChunkResult | null>(null);
  const answer = useQuery(queries.results.chunks.queryOptions({ input: { runId: run.runId, row } }));
  if (answer.error) return <ErrorCard error={answer.error} />;
  if (!answer.data) return <Skeleton height={360} />;
  const { sequence, chunks } = answer.data;
  const chunk = picked ?? chunks.find((candidate) => candidate.frames.length > 0);
  const notice = modelNotice(run.plan.model, texts);
  return (
    <Stack gap={18}>
      <div>
        <Text component="h2" fz="xl" fw={650} style={{ overflowWrap: 'anywhere' }}>
          {sequence.seqName}
        </Text>
        {sequence.header !== sequence.seqName && (
          <Text mt={2} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {sequence.header}
          </Text>
        )}
      </div>
      {notice !== null && <Banner tone="caution" title={notice} />}
      <Facts
        items={[
          {
            label: t('results.column.prediction'),
            value: <PredictionLabel prediction={sequence.prediction} />,
          },
          {
            label: t('results.column.virusScore'),
            value: sequence.virusScore === null ? '–' : format.score(sequence.virusScore),
          },
          {
            label: t('results.column.evidence'),
            value: <EvidenceLabel evidence={sequence.evidence} />,
            hint: evidenceRule(texts, run.plan.chunkLength),
          },
          ...(sequence.pair === null
            ? []
            : [
                {
                  label: t('results.pair'),
                  value: `${t(`prediction.${sequence.pair.prediction}`)} · ${format.score(sequence.pair.score)}`,
                  hint: t('results.pairText'),
                },
              ]),
          { label: t('results.column.length'), value: format.bases(sequence.length) },
          {
            label: t('chunks.viralOfScored'),
            value: t('common.of', {
              part: format.integer(sequence.nChunksViral),
              whole: format.integer(sequence.nChunksScored),
            }),
          },
          { label: t('results.column.input'), value: fileName(run.plan.inputs[sequence.input]?.path ?? '') },
        ]}
      />
      {sequence.reason !== 'ok' && (
        <Paper component="p" px={14} py={10} radius="md" bg="var(--surface-sunken)">
          {t(`reasonText.${sequence.reason}`)}
        </Paper>
      )}
      {sequence.virusScore !== null && sequence.length < run.plan.chunkLength && (
        <Paper component="p" px={14} py={10} radius="md" bg="var(--surface-sunken)">
          {sequence.tooShort
            ? t('results.tooShortText', { shortest: SHORTEST_LENGTH })
            : t('chunks.short', { length: run.plan.chunkLength })}
        </Paper>
      )}
      {sequence.secondScore !== null && sequence.bestScore !== null && (
        <Text mt={4} fz="xs" c="dimmed">
          {t('chunks.bestTwo', {
            best: format.score(sequence.bestScore),
            second: format.score(sequence.secondScore),
          })}
        </Text>
      )}
      {chunks.length > 0 && (
        <>
          <section>
            <h3 className={classes.subtitle}>{t('chunks.trackTitle')}</h3>
            <ChunkTrack chunks={chunks} length={sequence.length} picked={chunk} onPick={setPicked} />
          </section>
          <ChunkTable chunks={chunks} chunk={chunk} onPick={setPicked} />
        </>
      )}
      <Text mt={4} fz="xs" c="dimmed">
        {t('chunks.noteScore')}
      </Text>
      <SequenceNotes run={run} sequence={sequence} />
      <SequenceLetters run={run} sequence={sequence} />
    </Stack>
  );
}
