import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n/index.ts';

interface ConfirmDialogProps {
  opened: boolean;
  title: string;
  confirmLabel: string;
  /** Red button for what takes something away. */
  destructive?: boolean;
  busy?: boolean;
  children: ReactNode;
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { t } = useTexts();
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {props.children}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button variant="default" onClick={props.onClose} data-autofocus>
          {t('common.cancel')}
        </Button>
        <Button
          color={props.destructive ? 'red.8' : 'teal'}
          loading={props.busy ?? false}
          onClick={props.onConfirm}
        >
          {props.confirmLabel}
        </Button>
      </Group>
    </Modal>
  );
}
