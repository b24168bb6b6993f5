import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Group, Modal } from '@mantine/core';
import type { ModelStatus } from '../../../electron/contract/index.ts';
import { DESTRUCTIVE } from '../../components/dialogs.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';

/** Says what goes, what it frees, and what stays since other models use it. */
export function RemoveDialog({ model, onClose }: { model: ModelStatus; onClose: () => void }) {
  const { t, format } = useTexts();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => engine.computer.removeModel({ model: model.id }),
    onSettled: onClose,
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <Modal opened onClose={onClose} title={t('models.removeTitle', { title: model.title })}>
      <p>{t('models.removeFrees', { size: format.fileSize(model.freesBytes) })}</p>
      {model.sharedWith.length > 0 && (
        <p>{t('models.removeKeeps', { titles: model.sharedWith.join(', ') })}</p>
      )}
      <p className="muted">{t('models.removeRuns')}</p>
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={onClose} data-autofocus>
          {t('common.cancel')}
        </Button>
        <Button {...DESTRUCTIVE} loading={remove.isPending} onClick={() => remove.mutate()}>
          {t('models.remove')}
        </Button>
      </Group>
    </Modal>
  );
}
