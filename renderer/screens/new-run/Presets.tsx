import { Radio } from '@mantine/core';
import { useTexts } from '../../i18n/index.ts';
import { canQuickLook, PRESET_IDS, presetOf, PRESETS, type PresetId } from '../../state/newRun/presets.ts';
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import type { NewRunForm } from './useNewRunForm.ts';

export function Presets({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  const chosen = presetOf(form.choices);
  const quickPossible = canQuickLook(form.choices.useCpu ? [] : form.gpus);
  return (
    <Radio.Group
      mt="md"
      label={t('newRun.preset')}
      value={chosen ?? ''}
      onChange={(id) => choose(PRESETS[id as PresetId])}
      description={chosen === null ? t('preset.custom') : undefined}
    >
      <div className={classes.presets} style={{ marginTop: 6 }}>
        {PRESET_IDS.map((id) => (
          <div key={id} className={classes.preset} data-chosen={id === chosen}>
            <Radio
              value={id}
              disabled={id === 'quick' && !quickPossible}
              label={t(`preset.${id}`)}
              description={
                id === 'quick' && !quickPossible ? t('preset.quickImpossible') : t(`preset.${id}Text`)
              }
            />
          </div>
        ))}
      </div>
    </Radio.Group>
  );
}
