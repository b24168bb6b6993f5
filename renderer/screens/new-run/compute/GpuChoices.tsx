import { Button, Checkbox, SimpleGrid } from '@mantine/core';
import type { ProbedGpu, ProbeResult } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { chosenGpus, isUsable, takenByItself, type RunChoices } from '../../../state/newRun/choices.ts';
import { go } from '../../../state/navigation.ts';
import classes from '../Choice.module.css';

interface GpuChoicesProps {
  probe: ProbeResult | null;
  choices: RunChoices;
  onChange: (gpuUuids: readonly string[] | null) => void;
}

/** Lets the user select GPUs of this computer. */
export function GpuChoices({ probe, choices, onChange }: GpuChoicesProps) {
  const { t, format } = useTexts();
  const chosen = new Set(chosenGpus(choices, probe).map((gpu) => gpu.uuid));
  const toggle = (gpu: ProbedGpu, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(gpu.uuid);
    else next.delete(gpu.uuid);
    const byItself = takenByItself(probe);
    const isThat = next.size === byItself.length && byItself.every(({ uuid }) => next.has(uuid));
    onChange(isThat ? null : [...next]);
  };
  const gpus = probe?.gpus ?? [];
  return (
    <>
      <SimpleGrid minColWidth={300} spacing={8}>
        {gpus.map((gpu) => {
          const usable = isUsable(gpu);
          const isChosen = chosen.has(gpu.uuid) && !choices.useCpu;
          return (
            <div key={gpu.uuid} className={classes.choice} data-chosen={isChosen}>
              <Checkbox
                checked={isChosen}
                disabled={!usable || choices.useCpu}
                onChange={(event) => toggle(gpu, event.currentTarget.checked)}
                label={`${t('device.gpu', { index: gpu.index })} · ${gpu.name}`}
                description={gpuDescription(gpu, usable, t)}
              />
              <div className={classes.figures}>
                <b>{format.memory(gpu.memory_free_bytes)}</b>
                <br />
                {t('newRun.freeOf', { total: format.memory(gpu.memory_total_bytes) })}
              </div>
            </div>
          );
        })}
      </SimpleGrid>
      {gpus.some(isForTheCheck) && (
        <Button size="compact-sm" variant="default" onClick={() => go({ screen: 'computer' })}>
          {t('newRun.toCheck')}
        </Button>
      )}
    </>
  );
}

/** The computer check explains what this GPU lacks, and what helps. */
const isForTheCheck = (gpu: ProbedGpu): boolean =>
  gpu.visible && (gpu.blocked_by !== null || (gpu.failed?.length ?? 0) > 0);

function gpuDescription(gpu: ProbedGpu, usable: boolean, t: ReturnType<typeof useTexts>['t']): string {
  if (!gpu.visible) return t('newRun.gpuHidden');
  if (gpu.blocked_by === 'architecture') return t('newRun.gpuNotSupported');
  if (gpu.blocked_by === 'driver') return t('newRun.gpuDriverOld');
  if (gpu.blocked_by === 'trial') return t('newRun.gpuFailed');
  if (gpu.blocked_by === 'pytorch') return t('newRun.gpuNeedsPyTorch');
  if (!usable) return t('newRun.gpuInMigMode');
  const names = [...new Set(gpu.processes.map((process) => process.name ?? t('newRun.unknownProgram')))];
  const use = names.length === 0 ? t('newRun.gpuFree') : t('newRun.gpuUsedBy', { names: names.join(', ') });
  const formats = (gpu.failed ?? []).map(({ precision }) => precision.toUpperCase()).join(', ');
  return formats === '' ? use : `${use}. ${t('newRun.gpuFailedIn', { formats })}`;
}
