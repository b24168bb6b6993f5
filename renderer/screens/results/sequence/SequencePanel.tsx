import { fileName } from '../../../i18n/names.ts';
import { queries } from '../../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Button, CloseButton, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { useRef, useState, type ReactNode } from 'react';
import {
  hitText,
  SHORTEST_LENGTH,
  type ChunkResult,
  type ColumnKey,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { ChunkTrack } from '../../../components/charts/ChunkTrack.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { Guarded } from '../../../components/feedback/Guarded.tsx';
import { Facts } from '../../../components/Facts.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { changeView, useResultsView } from '../../../state/results/resultsView.ts';
import { useSamplesFound } from '../../../state/results/samplesFound.ts';
import { shortlist, useShortlist } from '../../../state/results/shortlist.ts';
import { ChunkTable } from './ChunkTable.tsx';
import { EvidenceLabel, PredictionLabel } from '../callLabels.tsx';
import { SequenceLetters } from './SequenceLetters.tsx';
import classes from './SequencePanel.module.css';

const NOTE = { component: 'p', px: 14, py: 10, radius: 'md', bg: 'var(--surface-sunken)' } as const;

/** These overlays handle Escape themselves. */
const OVERLAYS = '[role="dialog"], [role="menu"], [role="listbox"]';
/** Elements that handle keys themselves. */
const OWN_KEYS = 'input, textarea, select, [role="grid"], [role="listbox"], [role="menu"], [role="region"]';
/** Closed drop-down lists stay in the document. */
const hasOverlay = () =>
  [...document.querySelectorAll(OVERLAYS)].some((overlay) => overlay.getClientRects().length > 0);

/** The open sequence, beside the table: its call, and the scores of its chunks along it. */
export function SequencePanel({ run }: { run: RunSummary }) {
  const row = useResultsView((state) => (state.runId === run.runId ? state.openRow : null));
  return row === null ? null : <OpenSequence run={run} row={row} />;
}

function OpenSequence({ run, row }: { run: RunSummary; row: number }) {
  const { t } = useTexts();
  const panel = useRef<HTMLElement>(null);
  const close = () => {
    // Keyboard users continue in the table.
    if (panel.current?.contains(document.activeElement))
      document.querySelector<HTMLElement>('main [role="grid"]')?.focus();
    changeView({ openRow: null });
  };
  useWindowEvent('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !hasOverlay()) close();
  });
  return (
    <section ref={panel} className={classes.panel} aria-label={t('chunks.title')}>
      <Group className={classes.head ?? ''} gap={8} wrap="nowrap">
        <Guarded>
          <ShortlistButton run={run} row={row} />
        </Guarded>
        <CloseButton aria-label={t('common.close')} onClick={close} />
      </Group>
      <Guarded>
        <SequenceDetails key={row} run={run} row={row} />
      </Guarded>
    </section>
  );
}

function ShortlistButton({ run, row }: { run: RunSummary; row: number }) {
  const { t } = useTexts();
  const isShortlisted = useShortlist(run.runId)?.has(row) ?? false;
  const toggle = () => shortlist(run.runId, row, !isShortlisted);
  useWindowEvent('keydown', (event) => {
    if (event.key.toLowerCase() !== 's' || event.altKey || event.ctrlKey || event.metaKey) return;
    const isTyped = event.target instanceof Element && event.target.closest(OWN_KEYS) !== null;
    if (!isTyped && !hasOverlay()) toggle();
  });
  return (
    <Button
      ml="auto"
      size="compact-sm"
      variant={isShortlisted ? 'light' : 'default'}
      aria-pressed={isShortlisted}
      aria-keyshortcuts="S"
      leftSection={
        isShortlisted ? <IconStarFilled size={14} aria-hidden /> : <IconStar size={14} aria-hidden />
      }
      onClick={toggle}
    >
      {t('shortlist.title')}
    </Button>
  );
}

function SequenceDetails({ run, row }: { run: RunSummary; row: number }) {
  const texts = useTexts();
  const { t, format, language } = texts;
  const found = useSamplesFound(run).data;
  const [picked, setPicked] = useState<ChunkResult | null>(null);
  const answer = useQuery(queries.results.chunks.queryOptions({ input: { runId: run.runId, row } }));
  if (answer.error) return <ErrorCard error={answer.error} />;
  if (!answer.data) return <Skeleton height={360} />;
  const { sequence, chunks, others } = answer.data;
  const isControl =
    found?.items.some(({ control, inputs }) => control && inputs.includes(sequence.input)) ?? false;
  const chunk = picked ?? chunks.find((candidate) => candidate.frames.length > 0);
  const { pairScore, pairPrediction, pValue, terminalRepeat, terminalRepeatLength } = sequence;
  const known: [ColumnKey, ReactNode][] = [
    ['prediction', <PredictionLabel prediction={sequence.prediction} settled={sequence.settled} />],
    ['virusScore', sequence.virusScore === null ? '–' : format.score(sequence.virusScore)],
    ['evidence', <EvidenceLabel evidence={sequence.evidence} />],
  ];
  if (pairScore !== null && pairPrediction !== null)
    known.push(['pairPrediction', `${t(`prediction.${pairPrediction}`)} · ${format.score(pairScore)}`]);
  if (pValue !== null) known.push(['pValue', format.score(pValue)]);
  if (run.plan.secondLook)
    known.push(
      ['judgedBy', sequence.judgedBy === null ? '–' : `${sequence.judgedBy} bp`],
      ['along', sequence.along ?? '–'],
    );
  if (terminalRepeat !== null && terminalRepeatLength !== null)
    known.push(['terminalRepeat', `${terminalRepeat}, ${format.bases(terminalRepeatLength)}`]);
  return (
    <Stack gap={18}>
      <div>
        <Text component="h2" fz="lg" fw={650} style={{ overflowWrap: 'anywhere' }}>
          {sequence.seqName}
        </Text>
        {sequence.header !== sequence.seqName && (
          <Text mt={2} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {sequence.header}
          </Text>
        )}
        <Text mt={6}>{hitText(sequence, { isControl, language })}</Text>
      </div>
      <Facts
        items={[
          ...known.map(([column, value]) => ({
            label: t(`column.${column}`),
            value,
            hint: t(column === 'evidence' ? 'evidence.about' : `column.${column}.meaning`),
          })),
          { label: t('common.file'), value: fileName(run.plan.inputs[sequence.input]?.path ?? '') },
        ]}
      />
      {others.length > 0 && (
        <Facts
          size="small"
          items={others.flatMap(({ title, isNamed, isVirus, columns }) => [
            {
              label: title,
              value: t(
                isVirus === null
                  ? isNamed
                    ? 'others.noCall'
                    : 'others.unnamed'
                  : isVirus
                    ? 'prediction.virus'
                    : 'others.notVirus',
              ),
            },
            ...columns.map(({ name, value }) => ({ label: `${title}: ${name}`, value })),
          ])}
        />
      )}
      {sequence.reason !== 'ok' && <Paper {...NOTE}>{t(`reasonText.${sequence.reason}`)}</Paper>}
      {sequence.geneticCodeHint !== null && (
        <Paper {...NOTE}>
          {t('chunks.otherCode', {
            chunks: sequence.nChunks,
            lost: sequence.nChunksLost,
            byCodon: sequence.geneticCodeHint === 15 ? sequence.nChunksLostToTag : sequence.nChunksLostToTga,
            codon: sequence.geneticCodeHint === 15 ? 'TAG' : 'TGA',
            code: String(sequence.geneticCodeHint),
          })}
        </Paper>
      )}
      {sequence.virusScore !== null && sequence.length < run.plan.chunkLength && (
        <Paper {...NOTE}>
          {sequence.tooShort
            ? t('results.tooShortText', { shortest: SHORTEST_LENGTH })
            : t('chunks.short', { length: run.plan.chunkLength })}
        </Paper>
      )}
      {sequence.secondScore !== null && sequence.bestScore !== null && (
        <Text mt={-8} fz="xs" c="dimmed">
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
          <ChunkTable
            chunks={chunks}
            looksTwice={run.plan.secondLook !== undefined}
            chunk={chunk}
            onPick={setPicked}
          />
        </>
      )}
      <SequenceLetters run={run} sequence={sequence} />
    </Stack>
  );
}
