import { ActionIcon } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useTexts } from '../i18n/index.ts';
import { dismissToast, useToasts } from '../state/toasts.ts';
import { ErrorCard } from './ErrorCard.tsx';
import classes from './Toasts.module.css';

export function Toasts() {
  const { t } = useTexts();
  const toasts = useToasts((state) => state.toasts);
  return (
    <div className={classes.stack} role="region" aria-label={t('toasts.label')} aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={classes.toast} role={toast.kind === 'error' ? 'alert' : undefined}>
          {toast.kind === 'error' ? (
            <ErrorCard error={toast.error} bare />
          ) : (
            <div className={classes.done}>
              <IconCheck size={18} aria-hidden />
              {toast.text}
            </div>
          )}
          <ActionIcon
            variant="subtle"
            color="slate"
            size="sm"
            aria-label={t('common.close')}
            onClick={() => dismissToast(toast.id)}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </div>
      ))}
    </div>
  );
}
