import { Button, Group, Modal, type ModalProps } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
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

interface FormDialogProps extends Pick<ModalProps, 'title' | 'size' | 'onClose'> {
  submit: string;
  disabled: boolean;
  /** The dialog closes once it has succeeded. */
  onSubmit: () => Promise<unknown>;
  children: ReactNode;
}

/** A dialog whose fields are sent by a button or by Enter. */
export function FormDialog({ submit, disabled, onSubmit, children, ...dialog }: FormDialogProps) {
  const send = useMutation({ mutationFn: onSubmit, onSuccess: dialog.onClose });
  return (
    <Dialog opened {...dialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        {children}
        <DialogButtons onClose={dialog.onClose}>
          <Button type="submit" loading={send.isPending} disabled={disabled}>
            {submit}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
