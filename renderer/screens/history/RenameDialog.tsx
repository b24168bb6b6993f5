import { useMutation } from '@tanstack/react-query';
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';

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
    <Modal opened onClose={onClose} title={t('history.rename')}>
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
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" disabled={name.trim() === ''} loading={rename.isPending}>
            {t('history.rename')}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
