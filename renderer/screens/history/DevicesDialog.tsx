import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Checkbox, NumberInput } from '@mantine/core';
import { Dialog, DialogButtons } from '../../components/Dialog.tsx';
import { useState } from 'react';
import type { RunSummary, WindowWhere } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import {
  chosenGpus,
  devicesText,
  expectsGpus,
  isPlaceKnown,
  RUN_REQUEST_DEFAULTS,
} from '../../state/newRun/choices.ts';
import { GpuChoices } from '../new-run/compute/GpuChoices.tsx';
import { WhereChoice } from '../new-run/compute/WhereChoice.tsx';

/** Shows the cluster named in a run that somebody else made. Nothing is sent there or executed before the user has seen it. */
function ForeignPlace({ place, onUse }: { place: WindowWhere; onUse: (place: WindowWhere) => void }) {
  const { t } = useTexts();
  return (
    <>
      <Banner
        tone="warn"
        title={t('run.foreignTitle')}
        actions={
          <Button size="compact-md" variant="default" onClick={() => onUse(place)}>
            {t('run.foreignUse')}
          </Button>
        }
      >
        {place.kind === 'ray' && t('run.foreignRay', { address: place.address })}
        {place.kind === 'slurm' && t('run.foreignSlurm')}
      </Banner>
      {place.kind === 'slurm' && (
        <pre
          className="text-box"
          style={{ maxHeight: 380 }}
          tabIndex={0}
          role="region"
          aria-label={t('slurm.preview')}
        >
          {place.script}
        </pre>
      )}
    </>
  );
}

/** For a run whose devices are missing or busy, for example one that came from another computer. */
export function DevicesDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const probe = useQuery(queries.computer.devices.queryOptions());
  const [choices, setChoices] = useState(RUN_REQUEST_DEFAULTS);
  const devices = probe.data ?? null;
  const isHere = choices.where.kind === 'this_computer';
  const hasGpus = isHere && expectsGpus(choices, devices);
  const onGpus = hasGpus && !choices.useCpu;
  const start = useMutation({
    mutationFn: async () => {
      await engine.runs.resume({
        runId: run.runId,
        ...(isHere ? { devices: devicesText(choices, devices) } : { where: choices.where }),
      });
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} size="lg" title={t('run.continueElsewhereTitle')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <p>{t('run.continueElsewhereText')}</p>
        {run.foreignPlace && choices.where !== run.foreignPlace && (
          <ForeignPlace place={run.foreignPlace} onUse={(where) => setChoices({ ...choices, where })} />
        )}
        <WhereChoice where={choices.where} onChange={(where) => setChoices({ ...choices, where })} />
        {isHere && probe.error && <ErrorCard error={probe.error} />}
        {isHere && probe.isPending && <Waiting like="choices" />}
        {isHere && (
          <GpuChoices
            probe={devices}
            choices={choices}
            onChange={(gpuUuids) => setChoices({ ...choices, gpuUuids })}
          />
        )}
        {hasGpus && (
          <Checkbox
            mt="md"
            label={t('advanced.useCpu')}
            description={t('advanced.useCpuHelp')}
            checked={choices.useCpu}
            onChange={(event) => setChoices({ ...choices, useCpu: event.currentTarget.checked })}
          />
        )}
        {isHere && devices && !onGpus && (
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
        {start.error && <ErrorCard error={start.error} />}
        <DialogButtons onClose={onClose}>
          <Button
            type="submit"
            loading={start.isPending}
            disabled={
              isHere
                ? !devices || (onGpus && chosenGpus(choices, devices).length === 0)
                : !isPlaceKnown(choices.where)
            }
          >
            {t('common.continue')}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
