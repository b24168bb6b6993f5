import { useMutation } from '@tanstack/react-query';
import { Box, Button, Collapse, Group, Text, TextInput } from '@mantine/core';
import { useId, useState } from 'react';
import { goalText, inWords, said } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { ErrorCard, Remedy } from '../../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../../components/feedback/Waiting.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { fileName } from '../../../i18n/names.ts';
import { useEngineTexts, useErrorTexts } from '../../../state/engineTexts.ts';
import { RUN_REQUEST_DEFAULTS } from '../../../state/newRun/choices.ts';
import type { StartReason } from '../../../state/newRun/startReasons.ts';
import { chooseFolder } from '../../../state/pathChooser.ts';
import { choose } from '../../../state/newRun/store.ts';
import { AdvancedSettings } from './AdvancedSettings.tsx';
import { GpuChoices } from './GpuChoices.tsx';
import type { NewRunForm } from '../useNewRunForm.ts';

/** Devices, number format and results folder in one line, with all the settings behind it. */
export function ComputeSettings({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  const id = useId();
  const [wanted, setWanted] = useState(false);
  const opened = wanted || form.reasons.some(({ code }) => SETTLED_HERE.has(code));
  return (
    <Box mb={14}>
      <Group gap={12} justify="space-between">
        <Text flex="1 1 260px" miw={0} style={{ overflowWrap: 'anywhere' }}>
          <Summary form={form} />
        </Text>
        <Button
          variant="default"
          size="compact-sm"
          aria-expanded={opened}
          aria-controls={id}
          aria-label={`${t(opened ? 'newRun.hide' : 'newRun.change')}: ${t('newRun.compute')}`}
          onClick={() => setWanted(!opened)}
        >
          {t(opened ? 'newRun.hide' : 'newRun.change')}
        </Button>
      </Group>
      <Collapse expanded={opened} id={id}>
        <Box pt={14}>
          <ThisComputer form={form} />
          <ResultsFolder form={form} />
          <AdvancedSettings form={form} />
        </Box>
      </Collapse>
    </Box>
  );
}

/** The settings behind the line fix these problems. */
const SETTLED_HERE: ReadonlySet<StartReason['code']> = new Set(['no_device', 'folder']);

function Summary({ form: { choices, estimate } }: { form: NewRunForm }) {
  const { t } = useTexts();
  const computation = estimate?.computation;
  const devices =
    computation?.devices.map(({ name, count }) => (count === 1 ? name : `${count} × ${name}`)) ?? [];
  const exactness = computation ? [t(`precision.${computation.precision}`)] : [];
  const kept = choices.embeddings === null ? [] : [t('newRun.keepsEmbeddings')];
  const changed = ADVANCED.some((key) => choices[key] !== RUN_REQUEST_DEFAULTS[key])
    ? [t('newRun.changed')]
    : [];
  const goal = choices.until ? [t('newRun.until', { goal: goalText(choices.until) })] : [];
  return (
    <>
      {[t('newRun.onThisComputer'), ...devices, ...exactness, ...kept, ...goal, ...changed].join(', ')}
      {estimate && (
        <Text span c="dimmed" title={estimate.outputDir}>
          {' · '}
          {t('newRun.into', { folder: fileName(estimate.outputDir) })}
        </Text>
      )}
    </>
  );
}

/** Settings that the line does not mention by name. */
const ADVANCED = [
  'order',
  'keepWork',
  'reuseEmbeddings',
  'gpuMemoryGb',
  'tokensPerBatch',
  'residuesPerPart',
  'minLength',
  'geneticCode',
  'cpuWorkers',
  'embedEqualSequencesOnce',
] as const;

function ResultsFolder({ form: { choices, estimate, folderError } }: { form: NewRunForm }) {
  const { t, format } = useTexts();
  const errorTexts = useErrorTexts();
  const error = folderError && errorTexts(folderError);
  const pick = useMutation({
    mutationFn: async () => {
      const path = await chooseFolder('output');
      if (path !== null) choose({ outputDir: path });
    },
  });
  const free = estimate?.diskFreeBytes;
  return (
    <Group mt="md" gap={8} align="flex-end" wrap="nowrap">
      <TextInput
        flex={1}
        miw={0}
        label={t('newRun.folder')}
        description={
          estimate
            ? t('newRun.folderHelp', {
                needed: format.fileSize(estimate.diskBytes),
                free: typeof free === 'number' ? format.fileSize(free) : t('common.unknown'),
              })
            : undefined
        }
        placeholder={estimate?.outputDir ?? ''}
        value={choices.outputDir ?? ''}
        error={error && `${error.cause ?? error.title} ${error.next}`}
        onChange={(event) => choose({ outputDir: event.currentTarget.value || null })}
      />
      <Button variant="default" onClick={() => pick.mutate()}>
        {t('common.choose')}
      </Button>
    </Group>
  );
}

function ThisComputer({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  const say = useEngineTexts();
  const probe = form.probe.data ?? null;
  const why = probe?.no_gpu_code && inWords(said(probe.no_gpu_code, {}));
  return (
    <>
      {form.probe.error && <ErrorCard error={form.probe.error} />}
      {!probe && !form.probe.error && <Waiting />}
      {probe && !form.hasGpus && (
        <Banner
          tone="warn"
          title={t(probe.gpus.length === 0 ? 'newRun.noGpu' : 'newRun.noUsableGpu')}
          actions={probe.no_gpu_code && <Remedy code={probe.no_gpu_code} />}
        >
          {why && `${say(why.sentence)} ${say(why.next)}`}{' '}
          {t('newRun.noGpuText', { cpu: probe.cpu.name, cores: probe.cpu.logical_cores })}
        </Banner>
      )}
      <GpuChoices probe={probe} choices={form.choices} onChange={(gpuUuids) => choose({ gpuUuids })} />
    </>
  );
}
