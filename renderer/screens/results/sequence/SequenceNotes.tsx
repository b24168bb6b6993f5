import { Stack, TagsInput, Textarea } from '@mantine/core';
import { useMemo, useState } from 'react';
import {
  LIMITS,
  type Annotation,
  type RunSummary,
  type SequenceNote,
  type SequenceResult,
} from '../../../../electron/contract/index.ts';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useKeepNote, useSequenceNotes } from '../../../state/results/sequenceNotes.ts';

interface SequenceNotesProps {
  run: RunSummary;
  sequence: SequenceResult;
}

/** Edits the user's own tags and note on one sequence; they are stored in the run's folder and move with it. */
export function SequenceNotes({ run, sequence }: SequenceNotesProps) {
  const { notes, error } = useSequenceNotes(run.runId);
  if (error) return <ErrorCard error={error} />;
  return notes && <Fields run={run} sequence={sequence} notes={notes} />;
}

function Fields({ run, sequence, notes }: SequenceNotesProps & { notes: ReadonlyMap<number, SequenceNote> }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState<Annotation>(notes.get(sequence.row) ?? { tags: [], note: '' });
  const keep = useKeepNote(run.runId, sequence);
  const change = (part: Partial<Annotation>) => {
    const next = { ...typed, ...part };
    setTyped(next);
    keep(next);
  };
  const known = useMemo(
    () => [...new Set([...notes.values()].flatMap(({ tags }) => tags))].toSorted(),
    [notes],
  );
  return (
    <Stack component="section" gap={12}>
      <TagsInput
        label={t('history.tags')}
        description={t('notes.tagsHelp')}
        data={known}
        value={typed.tags}
        maxTags={LIMITS.tags}
        maxLength={LIMITS.word}
        acceptValueOnBlur
        onChange={(tags) => change({ tags })}
      />
      <Textarea
        label={t('history.note')}
        rows={3}
        resize="vertical"
        maxLength={LIMITS.note}
        value={typed.note}
        onChange={(event) => change({ note: event.currentTarget.value })}
      />
    </Stack>
  );
}
