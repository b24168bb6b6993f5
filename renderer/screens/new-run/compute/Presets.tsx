import { Checkbox, Radio, SimpleGrid } from '@mantine/core';
import { useTexts } from '../../../i18n/index.ts';
import { failedAt, PRESET_IDS, presetOf, PRESETS, type PresetId } from '../../../state/newRun/presets.ts';
import { choose } from '../../../state/newRun/store.ts';
import classes from '../Choice.module.css';
import type { NewRunForm } from '../useNewRunForm.ts';

export function Presets({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  const { choices } = form;
  const chosen = presetOf(choices.precision);
  const precision = form.estimate?.computation?.precision;
  return (
    <>
      <Radio.Group
        mt="md"
        label={t('newRun.preset')}
        value={chosen ?? ''}
        onChange={(id) => choose({ precision: PRESETS[id as PresetId] })}
        description={
          chosen === null
            ? t('preset.custom')
            : precision && t('preset.computesIn', { precision: t(`precision.${precision}`) })
        }
      >
        <SimpleGrid minColWidth={250} spacing={8} style={{ marginTop: 6 }}>
          {PRESET_IDS.map((id) => {
            const failing = form.onGpus ? failedAt(id, form.gpus) : undefined;
            return (
              <div key={id} className={classes.preset} data-chosen={id === chosen}>
                <Radio
                  value={id}
                  disabled={failing !== undefined}
                  label={t(`preset.${id}`)}
                  description={failing ? t('preset.failed', { gpu: failing.name }) : t(`preset.${id}Text`)}
                />
              </div>
            );
          })}
        </SimpleGrid>
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
