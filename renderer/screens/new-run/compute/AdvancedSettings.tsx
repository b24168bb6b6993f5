import { Box, Button, Checkbox, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { LIMITS, RESIDUES_PER_PART, TOKENS_PER_BATCH } from '../../../../electron/contract/index.ts';
import { GoalField } from '../../../components/GoalField.tsx';
import { Fold } from '../../../components/Fold.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { ADVANCED_DEFAULTS } from '../../../state/newRun/choices.ts';
import { choose } from '../../../state/newRun/store.ts';
import { chooseFolder } from '../../../state/pathChooser.ts';
import classes from '../Choice.module.css';
import type { NewRunForm } from '../useNewRunForm.ts';

const PRECISIONS = ['auto', 'fp8', 'fp16', 'bf16', 'fp32'] as const;
/** Help below the fields keeps adjacent fields aligned. */
const ORDER: ('label' | 'input' | 'description')[] = ['label', 'input', 'description'];
const ORDERS = ['auto', 'sample', 'file'] as const;
const EMBEDDINGS = ['none', 'fp16', 'fp32'] as const;

/** Settings that most users never need, folded away. An empty field means that the program decides. */
export function AdvancedSettings({ form }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const { choices } = form;
  const onGpu = form.onGpus;
  const isHere = choices.where.kind === 'this_computer';
  const kind = onGpu ? 'gpu' : 'cpu';
  const number = (value: string | number) =>
    typeof value === 'number' && value > 0 ? Math.round(value) : null;
  return (
    <Box mt={14}>
      <Fold title={t('advanced.title')}>
        <SimpleGrid minColWidth={220} autoFlow="auto-fit" spacing={20} verticalSpacing={14} pt={12}>
          <Select
            inputWrapperOrder={ORDER}
            label={t('advanced.precision')}
            description={t('advanced.precisionHelp')}
            data={PRECISIONS.map((value) => ({
              value,
              label: t(`precision.${value}`),
              disabled:
                !choices.useCpu &&
                form.gpus.some((gpu) => gpu.failed?.some(({ precision }) => precision === value)),
            }))}
            value={choices.precision}
            onChange={(value) => choose({ precision: PRECISIONS.find((known) => known === value) ?? 'auto' })}
          />
          <Select
            inputWrapperOrder={ORDER}
            label={t('advanced.embeddings')}
            description={t('advanced.embeddingsHelp')}
            data={EMBEDDINGS.map((value) => ({ value, label: t(`embeddings.${value}`) }))}
            value={choices.embeddings ?? 'none'}
            onChange={(value) => choose({ embeddings: value === 'fp16' || value === 'fp32' ? value : null })}
          />
          <Select
            inputWrapperOrder={ORDER}
            label={t('advanced.order')}
            description={t('advanced.orderHelp')}
            data={ORDERS.map((value) => ({ value, label: t(`order.${value}`) }))}
            value={choices.order ?? 'auto'}
            onChange={(value) => choose({ order: value === 'sample' || value === 'file' ? value : null })}
          />
          <NumberInput
            inputWrapperOrder={ORDER}
            label={t('advanced.tokensPerBatch')}
            description={t('advanced.tokensPerBatchHelp')}
            placeholder={format.integer(TOKENS_PER_BATCH[kind])}
            min={256}
            step={1024}
            allowDecimal={false}
            value={choices.tokensPerBatch ?? ''}
            onChange={(value) => choose({ tokensPerBatch: number(value) })}
          />
          <NumberInput
            inputWrapperOrder={ORDER}
            label={t('advanced.partSize')}
            description={t('advanced.partSizeHelp')}
            placeholder={format.integer(RESIDUES_PER_PART[kind])}
            min={1024}
            step={16384}
            allowDecimal={false}
            value={choices.residuesPerPart ?? ''}
            onChange={(value) => choose({ residuesPerPart: number(value) })}
          />
          {onGpu && (
            <NumberInput
              inputWrapperOrder={ORDER}
              label={t('advanced.gpuMemory')}
              description={t('advanced.gpuMemoryHelp')}
              min={LIMITS.leastGpuMemoryBytes / 1e9}
              value={choices.gpuMemoryGb ?? ''}
              onChange={(value) =>
                choose({ gpuMemoryGb: typeof value === 'number' && value > 0 ? value : null })
              }
            />
          )}
          {!onGpu && isHere && (
            <NumberInput
              inputWrapperOrder={ORDER}
              label={t('advanced.cpuWorkers')}
              description={t('advanced.cpuWorkersHelp')}
              min={1}
              max={form.probe.data?.cpu.logical_cores ?? 64}
              allowDecimal={false}
              value={choices.cpuWorkers ?? ''}
              onChange={(value) => choose({ cpuWorkers: number(value) })}
            />
          )}
          <Checkbox
            label={t('advanced.equalOnce')}
            description={t('advanced.equalOnceHelp')}
            checked={choices.embedEqualSequencesOnce}
            onChange={(event) => choose({ embedEqualSequencesOnce: event.currentTarget.checked })}
          />
          <Checkbox
            label={t('advanced.keepWork')}
            description={t('advanced.keepWorkHelp')}
            checked={choices.keepWork}
            onChange={(event) => choose({ keepWork: event.currentTarget.checked })}
          />
          {isHere && (
            <Checkbox
              label={t('advanced.withControls')}
              description={t('advanced.withControlsHelp')}
              checked={choices.withControls}
              onChange={(event) => choose({ withControls: event.currentTarget.checked })}
            />
          )}
          {form.hasGpus && (
            <Checkbox
              label={t('advanced.useCpu')}
              description={t('advanced.useCpuHelp')}
              checked={choices.useCpu}
              onChange={(event) => choose({ useCpu: event.currentTarget.checked })}
            />
          )}
        </SimpleGrid>
        {isHere && (
          <Box mt={14}>
            <GoalField goal={choices.until} onChange={(until) => choose({ until })} isSample />
          </Box>
        )}
        <EarlierRun folder={choices.reuseEmbeddings} />
        <Button mt="md" variant="default" size="compact-sm" onClick={() => choose(ADVANCED_DEFAULTS)}>
          {t('advanced.reset')}
        </Button>
      </Fold>
    </Box>
  );
}

/** Folder of a run of the original VirNucPro, or of its fork. */
function EarlierRun({ folder }: { folder: string | null }) {
  const { t } = useTexts();
  const pick = useMutation({
    mutationFn: async () => {
      const path = await chooseFolder('run');
      if (path !== null) choose({ reuseEmbeddings: path });
    },
  });
  return (
    <div className={classes.earlier}>
      <TextInput
        flex="1 1 260px"
        miw={0}
        inputWrapperOrder={ORDER}
        label={t('advanced.reuse')}
        description={t('advanced.reuseHelp')}
        value={folder ?? ''}
        onChange={(event) => choose({ reuseEmbeddings: event.currentTarget.value || null })}
      />
      <Button variant="default" onClick={() => pick.mutate()} aria-label={t('advanced.reuseChoose')}>
        {t('newRun.chooseOutput')}
      </Button>
    </div>
  );
}
