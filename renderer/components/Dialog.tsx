import { Modal, type ModalProps } from '@mantine/core';
import { Guarded } from './feedback/Guarded.tsx';

/** A dialog over the window. If its content cannot be shown, its title and the button that closes it stay. */
export function Dialog({ children, ...props }: ModalProps) {
  return (
    <Modal {...props}>
      <Guarded>{children}</Guarded>
    </Modal>
  );
}
