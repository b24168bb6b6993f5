import { Button } from '@mantine/core';
import type { Where } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { hasOtherScript, placeOf, rememberSlurm, useSlurm } from '../../../state/newRun/slurm.ts';
import { SlurmForm } from './SlurmForm.tsx';
import classes from './SlurmForm.module.css';

type SlurmPlace = Extract<Where, { kind: 'slurm' }>;

/** The job of a run: the one in the form, or the one of an earlier run. */
export function SlurmFields({
  place,
  onChange,
}: {
  place: SlurmPlace;
  onChange: (place: SlurmPlace) => void;
}) {
  const { t } = useTexts();
  const settings = useSlurm();
  if (hasOtherScript(place, settings))
    return (
      <>
        <p className={classes.missing}>{t('slurm.otherScript')}</p>
        <pre className={classes.script} tabIndex={0} role="region" aria-label={t('slurm.preview')}>
          {place.script}
        </pre>
        <Button variant="default" size="compact-sm" onClick={() => onChange(placeOf(settings))}>
          {t('slurm.otherJob')}
        </Button>
      </>
    );
  return (
    <SlurmForm
      settings={settings}
      onChange={(next) => {
        rememberSlurm(next);
        onChange(placeOf(next));
      }}
    />
  );
}
