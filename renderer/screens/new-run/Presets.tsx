import { Checkbox, Radio } from '@mantine/core';
import { useTexts } from '../../i18n/index.ts';
import { failedAt, PRESET_IDS, presetOf, PRESETS, type PresetId } from '../../state/newRun/presets.ts';
import { choose } from '../../state/newRun/store.ts';
import classes from './Choice.module.css';
import type { NewRunForm } from './useNewRunForm.ts';

export function Presets({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  const { choices } = form;
  const chosen = presetOf(choices.precision);
  const onProcessor = !form.onGpus || (choices.where.kind === 'this_computer' && form.gpus.length === 0);
  const failing = (id: PresetId) => (choices.useCpu ? undefined : failedAt(id, form.gpus));
  /** A processor computes in 32 bit whatever is chosen: it has one level. */
  const levels = onProcessor ? PRESET_IDS.filter((id) => id !== 'exact') : PRESET_IDS;
  return (
    <>
      <Radio.Group
        mt="md"
        label={t('newRun.preset')}
        value={(onProcessor && chosen === 'exact' ? 'standard' : chosen) ?? ''}
        onChange={(id) => choose({ precision: PRESETS[id as PresetId] })}
        description={chosen === null ? t('preset.custom') : undefined}
      >
        <div className={classes.presets} style={{ marginTop: 6 }}>
          {levels.map((id) => (
            <div key={id} className={classes.preset} data-chosen={id === chosen}>
              <Radio
                value={id}
                disabled={failing(id) !== undefined}
                label={t(`preset.${id}`)}
                description={
                  failing(id) !== undefined
                    ? t('preset.failed', { gpu: failing(id)?.name ?? '' })
                    : t(id === 'standard' && onProcessor ? 'preset.standardCpuText' : `preset.${id}Text`)
                }
              />
            </div>
          ))}
        </div>
      </Radio.Group>
      <Checkbox
        mt="md"
        label={t('preset.embeddings')}
        description={t('preset.embeddingsText')}
        checked={choices.embeddings !== null}
        onChange={(event) => choose({ embeddings: event.currentTarget.checked ? 'fp16' : null })}
      />
    </>
  );
}
