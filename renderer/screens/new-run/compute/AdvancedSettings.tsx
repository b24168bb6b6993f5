import { Box, Button, Checkbox, Group, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { LIMITS } from '../../../../electron/contract/index.ts';
import { GoalField } from '../../../components/GoalField.tsx';
import { Fold } from '../../../components/Fold.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { ADVANCED_DEFAULTS } from '../../../state/newRun/choices.ts';
import { choose } from '../../../state/newRun/store.ts';
import { chooseFolder } from '../../../state/pathChooser.ts';
import type { NewRunForm } from '../useNewRunForm.ts';

const PRECISIONS = ['auto', 'fp8', 'fp16', 'bf16', 'fp32'] as const;
/** Help below the fields keeps adjacent fields aligned. */
const ORDER: ('label' | 'input' | 'description')[] = ['label', 'input', 'description'];

type FieldName =
  | ('precision' | 'embeddings' | 'order' | 'tokensPerBatch')
  | ('partSize' | 'gpuMemory' | 'cpuWorkers' | 'reuse' | 'minLength' | 'geneticCode');

/** The label of a field and its help. */
function useField() {
  const { t } = useTexts();
  return (name: FieldName) => ({
    inputWrapperOrder: ORDER,
    label: t(`advanced.${name}`),
    description: t(`advanced.${name}Help`),
  });
}

const ORDERS = ['auto', 'sample', 'file'] as const;
const GENETIC_CODES = ['11', '4', '15'] as const;
const EMBEDDINGS = ['none', 'fp16', 'fp32'] as const;

/** Settings that most users never need, folded away. An empty field means that the program decides. */
export function AdvancedSettings({ form }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const { choices } = form;
  const onGpu = form.onGpus;
  const computation = form.estimate?.computation;
  const field = useField();
  const switches = [
    { label: 'equalOnce', choice: 'embedEqualSequencesOnce' } as const,
    { label: 'keepWork', choice: 'keepWork' } as const,
    ...(form.hasGpus ? [{ label: 'useCpu', choice: 'useCpu' } as const] : []),
  ];
  const number = (value: string | number) =>
    typeof value === 'number' && value > 0 ? Math.round(value) : null;
  return (
    <Box mt={14}>
      <Fold title={t('advanced.title')}>
        <SimpleGrid minColWidth={220} autoFlow="auto-fit" spacing={20} verticalSpacing={14} pt={12}>
          <Select
            {...field('precision')}
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
            {...field('embeddings')}
            data={EMBEDDINGS.map((value) => ({ value, label: t(`embeddings.${value}`) }))}
            value={choices.embeddings ?? 'none'}
            onChange={(value) => choose({ embeddings: value === 'fp16' || value === 'fp32' ? value : null })}
          />
          <Select
            {...field('order')}
            data={ORDERS.map((value) => ({ value, label: t(`order.${value}`) }))}
            value={choices.order ?? 'auto'}
            onChange={(value) => choose({ order: value === 'sample' || value === 'file' ? value : null })}
          />
          <NumberInput
            key={choices.minLength}
            {...field('minLength')}
            min={1}
            allowDecimal={false}
            defaultValue={choices.minLength ?? ''}
            // Reads all files again, so not at every key.
            onBlur={(event) => choose({ minLength: number(Number(event.currentTarget.value)) })}
          />
          <Select
            {...field('geneticCode')}
            data={GENETIC_CODES.map((value) => ({ value, label: t(`geneticCode.${value}`) }))}
            value={String(choices.geneticCode ?? 11)}
            onChange={(value) => choose({ geneticCode: value === '4' ? 4 : value === '15' ? 15 : null })}
          />
          <NumberInput
            {...field('tokensPerBatch')}
            placeholder={computation ? format.integer(computation.tokensPerBatch) : ''}
            min={256}
            step={1024}
            allowDecimal={false}
            value={choices.tokensPerBatch ?? ''}
            onChange={(value) => choose({ tokensPerBatch: number(value) })}
          />
          <NumberInput
            {...field('partSize')}
            placeholder={computation ? format.integer(computation.residuesPerPart) : ''}
            min={1024}
            step={16384}
            allowDecimal={false}
            value={choices.residuesPerPart ?? ''}
            onChange={(value) => choose({ residuesPerPart: number(value) })}
          />
          {onGpu && (
            <NumberInput
              {...field('gpuMemory')}
              min={LIMITS.leastGpuMemoryBytes / 1e9}
              value={choices.gpuMemoryGb ?? ''}
              onChange={(value) =>
                choose({ gpuMemoryGb: typeof value === 'number' && value > 0 ? value : null })
              }
            />
          )}
          {!onGpu && (
            <NumberInput
              {...field('cpuWorkers')}
              min={1}
              max={form.probe.data?.cpu.logical_cores ?? 64}
              allowDecimal={false}
              value={choices.cpuWorkers ?? ''}
              onChange={(value) => choose({ cpuWorkers: number(value) })}
            />
          )}
          {switches.map(({ label, choice }) => (
            <Checkbox
              key={label}
              label={t(`advanced.${label}`)}
              description={t(`advanced.${label}Help`)}
              checked={choices[choice]}
              onChange={(event) => choose({ [choice]: event.currentTarget.checked })}
            />
          ))}
        </SimpleGrid>
        <Box mt={14}>
          <GoalField
            goal={choices.until}
            onChange={(until) => choose({ until })}
            isSample
            seconds={form.estimate?.seconds?.high ?? null}
          />
        </Box>
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
  const field = useField();
  const pick = useMutation({
    mutationFn: async () => {
      const path = await chooseFolder('run');
      if (path !== null) choose({ reuseEmbeddings: path });
    },
  });
  return (
    <Group gap={8} mt={14} align="flex-start">
      <TextInput
        flex="1 1 260px"
        miw={0}
        {...field('reuse')}
        value={folder ?? ''}
        onChange={(event) => choose({ reuseEmbeddings: event.currentTarget.value || null })}
      />
      {/* Beside the field, whose help is below it. */}
      <Button mt={22} variant="default" onClick={() => pick.mutate()} aria-label={t('advanced.reuseChoose')}>
        {t('common.choose')}
      </Button>
    </Group>
  );
}
