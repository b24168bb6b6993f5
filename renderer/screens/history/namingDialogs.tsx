import { useMutation } from '@tanstack/react-query';
import { Button, TagsInput, Textarea, TextInput } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useMemo, useState } from 'react';
import { LIMITS, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { useRuns } from '../../state/runs/runs.ts';

/** Edits the user's own tags and note; they are stored in the run's folder and move with it. */
export function AnnotateDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const [tags, setTags] = useState(run.tags);
  const [note, setNote] = useState(run.note);
  const runs = useRuns((state) => state.runs);
  const known = useMemo(() => [...new Set((runs ?? []).flatMap((one) => one.tags))].toSorted(), [runs]);
  const save = useMutation({
    mutationFn: async () => {
      await engine.runs.annotate({ runId: run.runId, tags, note: note.trim() });
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={t('history.annotateTitle', { name: run.name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <TagsInput
          data-autofocus
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
        <DialogButtons onClose={onClose}>
          <Button type="submit" loading={save.isPending}>
            {t('common.save')}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

export function RenameDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const [name, setName] = useState(run.name);
  const rename = useMutation({
    mutationFn: async () => {
      await engine.runs.rename({ runId: run.runId, name: name.trim() });
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={t('common.rename')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <TextInput
          data-autofocus
          label={t('newRun.name')}
          description={t('history.renameHelp')}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <DialogButtons onClose={onClose}>
          <Button type="submit" disabled={name.trim() === ''} loading={rename.isPending}>
            {t('common.rename')}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
