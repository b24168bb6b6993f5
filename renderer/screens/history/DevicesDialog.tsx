import { useQuery } from '@tanstack/react-query';
import { Checkbox, NumberInput } from '@mantine/core';
import { FormDialog } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { chosenGpus, devicesText, expectsGpus, RUN_REQUEST_DEFAULTS } from '../../state/newRun/choices.ts';
import { GpuChoices } from '../new-run/compute/GpuChoices.tsx';

/** For a run whose devices are missing or busy, for example one that came from another computer. */
export function DevicesDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const probe = useQuery(queries.computer.devices.queryOptions());
  const [choices, setChoices] = useState(RUN_REQUEST_DEFAULTS);
  const devices = probe.data ?? null;
  const hasGpus = expectsGpus(choices, devices);
  const onGpus = hasGpus && !choices.useCpu;
  return (
    <FormDialog
      title={t('run.continueElsewhereTitle')}
      size="lg"
      submit={t('common.continue')}
      disabled={!devices || (onGpus && chosenGpus(choices, devices).length === 0)}
      onSubmit={() => engine.runs.resume({ runId: run.runId, devices: devicesText(choices, devices) })}
      onClose={onClose}
    >
      <p>{t('run.continueElsewhereText')}</p>
      {probe.error && <ErrorCard error={probe.error} />}
      {probe.isPending && <Waiting />}
      <GpuChoices
        probe={devices}
        choices={choices}
        onChange={(gpuUuids) => setChoices({ ...choices, gpuUuids })}
      />
      {hasGpus && (
        <Checkbox
          mt="md"
          label={t('advanced.useCpu')}
          description={t('advanced.useCpuHelp')}
          checked={choices.useCpu}
          onChange={(event) => setChoices({ ...choices, useCpu: event.currentTarget.checked })}
        />
      )}
      {devices && !onGpus && (
        <NumberInput
          mt="md"
          label={t('advanced.cpuWorkers')}
          description={t('advanced.cpuWorkersHelp')}
          min={1}
          max={devices.cpu.logical_cores}
          allowDecimal={false}
          value={choices.cpuWorkers ?? ''}
          onChange={(value) =>
            setChoices({ ...choices, cpuWorkers: typeof value === 'number' && value > 0 ? value : null })
          }
        />
      )}
    </FormDialog>
  );
}
