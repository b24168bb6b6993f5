import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Radio, Stack } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { DESTRUCTIVE } from '../../styles/theme.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';

const CHOICES = ['work', 'keep', 'all'] as const;

/** Lists what is deleted, how much space that frees, and what stays. Inputs are never touched. */
export function DeleteDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t, format } = useTexts();
  const [files, setFiles] = useState<(typeof CHOICES)[number]>('work');
  const size = useQuery(
    queries.runs.folderSize.queryOptions({ input: { runId: run.runId }, enabled: !run.missing }),
  );
  const remove = useMutation({
    mutationFn: async () => {
      await engine.runs.remove({ runId: run.runId, files });
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={t('history.deleteTitle', { name: run.name })}>
      <p className="muted" style={{ marginTop: 0 }} aria-live="polite">
        {size.data
          ? t('history.folderSize', {
              size: format.fileSize(size.data.bytes),
              count: size.data.files,
            })
          : run.missing
            ? t('runState.missing')
            : t('common.loading')}
      </p>
      <Radio.Group
        aria-label={t('history.delete')}
        value={files}
        onChange={(value) => setFiles(CHOICES.find((known) => known === value) ?? 'work')}
      >
        <Stack gap="sm">
          {CHOICES.map((choice) => (
            <Radio
              key={choice}
              value={choice}
              label={t(`history.deleteChoice.${choice}`)}
              description={t(`history.deleteText.${choice}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      <DialogButtons onClose={onClose} isFocused>
        <Button
          {...(files === 'all' && DESTRUCTIVE)}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          {t(`history.deleteConfirm.${files}`)}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
