import { Button, Group, Modal, type ModalProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n/index.ts';
import { Guarded } from './feedback/Guarded.tsx';

/** A dialog over the window. If its content cannot be shown, its title and the button that closes it stay. */
export function Dialog({ children, ...props }: ModalProps) {
  return (
    <Modal {...props}>
      <Guarded>{children}</Guarded>
    </Modal>
  );
}

interface DialogButtonsProps {
  /** What the first button is called, which leaves everything as it was. */
  leave?: 'cancel' | 'close';
  /** Gives it the focus, where the others delete something. */
  isFocused?: boolean;
  onClose: () => void;
  children?: ReactNode;
}

export function DialogButtons({ leave = 'cancel', isFocused, onClose, children }: DialogButtonsProps) {
  const { t } = useTexts();
  return (
    <Group justify="flex-end" mt="lg" gap="sm">
      <Button variant="default" onClick={onClose} data-autofocus={isFocused}>
        {t(`common.${leave}`)}
      </Button>
      {children}
    </Group>
  );
}
