import { Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { useAction } from '../../state/useAction.ts';
import { useQuery } from '../../state/useQuery.ts';

const CHOICES = ['work', 'keep', 'all'] as const;

/** Says what goes, how much room it takes, and what stays. Inputs are never touched. */
export function DeleteDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t, format } = useTexts();
  const [files, setFiles] = useState<(typeof CHOICES)[number]>('work');
  const size = useQuery(run.missing ? null : `size:${run.runId}`, (client, signal) =>
    client.runs.folderSize({ runId: run.runId }, { signal }),
  );
  const remove = useAction(async () => {
    await engine().runs.remove({ runId: run.runId, files });
    onClose();
  });
  return (
    <ConfirmDialog
      opened
      title={t('history.deleteTitle', { name: run.name })}
      confirmLabel={t(`history.deleteConfirm.${files}`)}
      destructive={files === 'all'}
      busy={remove.busy}
      onConfirm={() => void remove.run()}
      onClose={onClose}
    >
      <p className="muted" style={{ marginTop: 0 }} aria-live="polite">
        {size.data
          ? t('history.folderSize', {
              size: format.fileSize(size.data.bytes),
              files: format.integer(size.data.files),
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
    </ConfirmDialog>
  );
}
