import { Button, Group, Paper, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconCopy, IconWorldSearch } from '@tabler/icons-react';
import { useId, useMemo } from 'react';
import {
  LIMITS,
  type BlastSearch,
  type RunSummary,
  type SequenceResult,
} from '../../../../electron/contract/index.ts';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { askAndSearchBlast } from '../../../state/results/blast.ts';
import { useCopy } from '../../../state/clipboard.ts';
import { queries } from '../../../state/connection.ts';
import { changeView, useResultsView } from '../../../state/results/resultsView.ts';
import classes from './SequencePanel.module.css';

/** A longer sequence is copied in full, but shown only up to here. */
const MOST_SHOWN = 4000;

interface SequenceLettersProps {
  run: RunSummary;
  sequence: SequenceResult;
}

/** The deciding protein and the sequence itself. Finding them may mean searching large files, so they are loaded only on request. */
export function SequenceLetters({ run, sequence }: SequenceLettersProps) {
  const { t } = useTexts();
  const shown = useResultsView((state) => state.lettersShown);
  if (shown) return <Letters run={run} sequence={sequence} />;
  return (
    <div>
      <Button variant="default" onClick={() => changeView({ lettersShown: true })}>
        {t('letters.show')}
      </Button>
    </div>
  );
}

function Letters({ run, sequence }: SequenceLettersProps) {
  const { t, format } = useTexts();
  const input = { runId: run.runId, row: sequence.row };
  const { data, error } = useQuery(queries.results.letters.queryOptions({ input, gcTime: 0 }));
  if (error) return <ErrorCard error={error} />;
  if (!data) return <p className="muted">{t('letters.searching')}</p>;
  const { bestFrame, bestChunkStart, bestChunkEnd } = sequence;
  return (
    <>
      {data.protein !== null && bestFrame !== null && (
        <Fasta
          title={t('letters.protein', {
            frame: bestFrame,
            start: format.integer(bestChunkStart ?? 0),
            end: format.integer(bestChunkEnd ?? 0),
          })}
          fasta={data.protein}
          program="blastp"
        />
      )}
      {data.record === null ? (
        <Paper component="p" px={14} py={10} radius="md" bg="var(--surface-sunken)">
          {t('letters.tooLong', { most: format.integer(LIMITS.text) })}
        </Paper>
      ) : (
        <Fasta title={t('letters.nucleotides')} fasta={data.record} program="blastn" />
      )}
    </>
  );
}

interface FastaProps {
  title: string;
  fasta: string;
  program: BlastSearch['program'];
}

function Fasta({ title, fasta, program }: FastaProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const id = useId();
  const copy = useCopy();
  const letters = useMemo(() => lettersOf(fasta), [fasta]);
  return (
    <section>
      <h3 id={id} className={classes.subtitle}>
        {title}
      </h3>
      <div className="text-box" style={{ maxHeight: 168 }} tabIndex={0} role="region" aria-labelledby={id}>
        {letters.slice(0, MOST_SHOWN)}
      </div>
      {letters.length > MOST_SHOWN && (
        <Text mt={4} fz="xs" c="dimmed">
          {t('letters.cut', {
            shown: format.integer(MOST_SHOWN),
            all: format.integer(letters.length),
          })}
        </Text>
      )}
      <Group gap="xs" mt="xs">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconCopy size={16} aria-hidden />}
          onClick={() => copy.mutate(fasta)}
        >
          {t('letters.copy')}
        </Button>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconWorldSearch size={16} aria-hidden />}
          onClick={() => askAndSearchBlast({ program, query: letters }, texts)}
        >
          {t('letters.blast')}
        </Button>
      </Group>
    </section>
  );
}

/** Removes the header line and line breaks. */
const lettersOf = (fasta: string) => fasta.slice(fasta.indexOf('\n') + 1).replaceAll('\n', '');
