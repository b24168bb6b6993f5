import { Button, Checkbox, Skeleton } from '@mantine/core';
import type { ProbedGpu } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/Banner.tsx';
import { Card } from '../../components/Card.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { isUsable, listedGpus, takenByItself } from '../../state/newRun/choices.ts';
import { go } from '../../state/navigation.ts';
import { choose } from '../../state/newRun/store.ts';
import { AdvancedSettings } from './AdvancedSettings.tsx';
import classes from './Choice.module.css';
import { Presets } from './Presets.tsx';
import type { NewRunForm } from './useNewRunForm.ts';

/** What computes, and how exactly. */
export function ComputeCard({ form }: { form: NewRunForm }) {
  const { t, format, lookUp } = useTexts();
  const probe = form.probe.data ?? null;
  const listed = listedGpus(probe);
  const chosen = new Set(form.gpus.map((gpu) => gpu.uuid));
  const toggle = (gpu: ProbedGpu, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(gpu.uuid);
    else next.delete(gpu.uuid);
    const byItself = takenByItself(probe);
    const isThat = next.size === byItself.length && byItself.every(({ uuid }) => next.has(uuid));
    choose({ gpuUuids: isThat ? null : [...next] });
  };
  return (
    <Card title={t('newRun.compute')}>
      {form.probe.error && <ErrorCard error={form.probe.error} />}
      {!probe && !form.probe.error && <Skeleton height={88} />}
      {probe && !form.hasGpus && (
        <Banner tone="warn" title={t(listed.length === 0 ? 'newRun.noGpu' : 'newRun.noUsableGpu')}>
          {(probe.no_gpu_code && lookUp(`engine.no_gpu.${probe.no_gpu_code}`)) ?? probe.no_gpu_reason}{' '}
          {t('newRun.noGpuText', { cpu: probe.cpu.name, cores: probe.cpu.logical_cores })}
        </Banner>
      )}
      <div className={classes.gpus}>
        {listed.map((gpu) => {
          const usable = isUsable(gpu);
          const isChosen = chosen.has(gpu.uuid) && !form.choices.useCpu;
          return (
            <div key={gpu.uuid} className={classes.choice} data-chosen={isChosen}>
              <Checkbox
                checked={isChosen}
                disabled={!usable || form.choices.useCpu}
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
      </div>
      {listed.some(isForTheCheck) && (
        <Button size="compact-sm" variant="subtle" onClick={() => go({ screen: 'computer' })}>
          {t('newRun.toCheck')}
        </Button>
      )}
      <Presets form={form} />
      <AdvancedSettings form={form} />
    </Card>
  );
}

/** The computer check says what this one lacks, and what helps. */
const isForTheCheck = (gpu: ProbedGpu): boolean =>
  gpu.visible && (gpu.blocked_by !== null || (gpu.failed?.length ?? 0) > 0);

function gpuDescription(gpu: ProbedGpu, usable: boolean, t: ReturnType<typeof useTexts>['t']): string {
  if (!gpu.visible) return t('newRun.gpuHidden');
  if (gpu.blocked_by === 'permission') return t('newRun.gpuClosed');
  if (gpu.blocked_by === 'architecture') return t('newRun.gpuNotSupported');
  if (gpu.blocked_by === 'driver') return t('newRun.gpuDriverOld');
  if (gpu.blocked_by === 'trial') return t('newRun.gpuFailed');
  if (gpu.blocked_by === 'pytorch')
    return t('newRun.gpuNeedsPyTorch', { build: gpu.vendor === 'amd' ? 'ROCm' : 'CUDA' });
  if (!usable) return t('newRun.gpuInMigMode');
  const names = [...new Set(gpu.processes.map((process) => process.name ?? t('newRun.unknownProgram')))];
  const use = names.length === 0 ? t('newRun.gpuFree') : t('newRun.gpuUsedBy', { names: names.join(', ') });
  const formats = (gpu.failed ?? []).map(({ precision }) => precision.toUpperCase()).join(', ');
  return [
    use,
    ...(formats === '' ? [] : [t('newRun.gpuFailedIn', { formats })]),
    ...(gpu.vendor === 'amd' ? [t('newRun.gpuUntested')] : []),
  ].join('. ');
}
