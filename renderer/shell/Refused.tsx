import { Button } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTexts } from '../i18n/index.ts';
import classes from './Refused.module.css';

/** Browser mode: the token of this window is missing, wrong, or of an earlier start of the engine. */
export function Refused() {
  const { t } = useTexts();
  return (
    <main className={classes.page}>
      <IconLock size={44} stroke={1.3} aria-hidden />
      <h1 className={classes.title}>{t('refused.title')}</h1>
      <p>{t('refused.cause')}</p>
      <p>{t('refused.next')}</p>
      <Button variant="default" onClick={() => location.reload()}>
        {t('refused.retry')}
      </Button>
    </main>
  );
}
