import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { IconDna2, IconFileImport, IconPlayerPlay, IconTable } from '@tabler/icons-react';
import { PickButtons } from './files/PickButtons.tsx';
import { useTexts } from '../../i18n/index.ts';
import { runExample } from '../../state/computer/environment.ts';
import classes from './NothingYet.module.css';

/** The screen as it greets: where to drop, and what to do without any file at hand. */
export function NothingYet() {
  const { t } = useTexts();
  const example = useMutation({ mutationFn: () => runExample() });
  return (
    <div className={classes.stack}>
      <section className={classes.drop} aria-labelledby="drop-title">
        <IconFileImport className={classes.icon} size={44} stroke={1.3} aria-hidden />
        <h2 id="drop-title" className={classes.title}>
          {t('newRun.drop')}
        </h2>
        <p className={classes.formats}>{t('newRun.formats')}</p>
        <PickButtons primary />
      </section>
      <div className={classes.row}>
        <section className={classes.example} aria-labelledby="example-title">
          <IconDna2 size={28} stroke={1.5} aria-hidden />
          <div className={classes.words}>
            <h2 id="example-title" className={classes.smallTitle}>
              {t('newRun.exampleTitle')}
            </h2>
            <p className="muted">{t('newRun.exampleText')}</p>
          </div>
          <Button
            variant="light"
            loading={example.isPending}
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
            onClick={() => example.mutate()}
          >
            {t('newRun.runExample')}
          </Button>
        </section>
        <section className={classes.example} aria-labelledby="what-title">
          <IconTable size={28} stroke={1.5} aria-hidden />
          <div className={classes.words}>
            <h2 id="what-title" className={classes.smallTitle}>
              {t('newRun.whatTitle')}
            </h2>
            <p className="muted">{t('newRun.whatText')}</p>
          </div>
        </section>
      </div>
    </div>
  );
}
