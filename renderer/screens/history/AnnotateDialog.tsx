import { TagsInput, Textarea, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { LIMITS, type RunSummary } from '../../../electron/contract/index.ts';
import { FormDialog } from '../../components/Dialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { useRuns } from '../../state/runs/runs.ts';

/** Edits the user's own name, tags and note; they are stored in the run's folder and move with it. */
export function AnnotateDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags);
  const [note, setNote] = useState(run.note);
  const runs = useRuns((state) => state.runs);
  const known = useMemo(() => [...new Set((runs ?? []).flatMap((one) => one.tags))].toSorted(), [runs]);
  return (
    <FormDialog
      title={t('history.annotateTitle', { name: run.name })}
      submit={t('common.save')}
      disabled={name.trim() === ''}
      onSubmit={() => engine.runs.annotate({ runId: run.runId, name: name.trim(), tags, note: note.trim() })}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('newRun.name')}
        description={t('history.renameHelp')}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TagsInput
        mt="md"
        label={t('history.tags')}
        description={t('history.tagsHelp')}
        data={known}
        value={tags}
        maxTags={LIMITS.tags}
        maxLength={LIMITS.word}
        acceptValueOnBlur
        onChange={setTags}
      />
      <Textarea
        mt="md"
        label={t('history.note')}
        autosize
        minRows={3}
        maxRows={10}
        maxLength={LIMITS.note}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
