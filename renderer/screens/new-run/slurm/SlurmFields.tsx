import { Textarea } from '@mantine/core';
import type { SlurmChoice } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { isPlaceKnown } from '../../../state/newRun/choices.ts';
import { placeOf, rememberPlace } from '../../../state/newRun/slurm.ts';

interface SlurmFieldsProps {
  place: SlurmChoice;
  onChange: (place: SlurmChoice) => void;
}

/** The batch script of a run, in sbatch's own words. */
export function SlurmFields({ place, onChange }: SlurmFieldsProps) {
  const { t } = useTexts();
  const change = (script: string) => {
    const next = placeOf(script);
    rememberPlace(next);
    onChange(next);
  };
  return (
    <Textarea
      mt={12}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.75rem' } }}
      label={t('slurm.preview')}
      description={t('slurm.scriptHelp')}
      error={isPlaceKnown(place) ? null : t('slurm.wrongArray')}
      rows={14}
      resize="vertical"
      spellCheck={false}
      value={place.script}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
