import type { ReactNode } from 'react';
import { useTexts } from '../i18n/index.ts';
import classes from './TechnicalDetails.module.css';

/** What only few ask for, folded away; one of these per screen. */
export function TechnicalDetails({ children }: { children: ReactNode }) {
  const { t } = useTexts();
  return (
    <details className={classes.technical}>
      <summary>{t('plan.technical')}</summary>
      {children}
    </details>
  );
}
