import { Button } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { toShownError, type ShownError } from '../api/callError.ts';
import { useTexts } from '../i18n/index.ts';
import { useCopy } from '../state/clipboard.ts';
import { useErrorTexts } from '../state/engineTexts.ts';
import classes from './ErrorCard.module.css';

interface ErrorCardProps {
  /** As a call threw it, or ready to be shown. */
  error: Error | ShownError;
  /** Buttons that do the next step. */
  actions?: ReactNode;
  /** Without frame, inside something that has one. */
  bare?: boolean;
}

/** What went wrong, why, and what to do next. */
export function ErrorCard({ error: reason, actions, bare = false }: ErrorCardProps) {
  const { t } = useTexts();
  const error = toShownError(reason);
  const { title, cause, next, detail } = useErrorTexts()(error);
  const copy = useCopy();
  const everything = [title, error.cause, next, error.detail ?? ''].join('\n');
  return (
    <div className={bare ? classes.bare : classes.card}>
      <IconAlertTriangle className={classes.icon} size={20} aria-hidden />
      <div className={classes.body}>
        <p className={classes.title}>{title}</p>
        {cause !== null && <p className={classes.cause}>{cause}</p>}
        <p className={classes.next}>
          <span className={classes.nextLabel}>{t('error.nextStep')}</span> {next}
        </p>
        <div className={classes.actions}>
          {actions}
          {detail !== null && (
            <Button variant="subtle" color="slate" size="compact-sm" onClick={() => copy.mutate(everything)}>
              {t('error.copyDetail')}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}
