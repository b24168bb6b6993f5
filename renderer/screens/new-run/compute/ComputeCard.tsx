import { Banner } from '../../../components/feedback/Banner.tsx';
import { Card } from '../../../components/Card.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../../components/feedback/Waiting.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { listedGpus } from '../../../state/newRun/choices.ts';
import { choose } from '../../../state/newRun/store.ts';
import { AdvancedSettings } from './AdvancedSettings.tsx';
import { GpuChoices } from './GpuChoices.tsx';
import { Presets } from './Presets.tsx';
import type { NewRunForm } from '../useNewRunForm.ts';
import { WhereChoice } from './WhereChoice.tsx';

/** What computes, and how exactly. */
export function ComputeCard({ form }: { form: NewRunForm }) {
  const { t } = useTexts();
  return (
    <Card title={t('newRun.compute')}>
      <WhereChoice where={form.choices.where} onChange={(where) => choose({ where })} />
      {form.choices.where.kind === 'this_computer' && <ThisComputer form={form} />}
      <Presets form={form} />
      <AdvancedSettings form={form} />
    </Card>
  );
}

function ThisComputer({ form }: { form: NewRunForm }) {
  const { t, lookUp } = useTexts();
  const probe = form.probe.data ?? null;
  const listed = listedGpus(probe);
  return (
    <>
      {form.probe.error && <ErrorCard error={form.probe.error} />}
      {!probe && !form.probe.error && <Waiting like="choices" />}
      {probe && !form.hasGpus && (
        <Banner tone="warn" title={t(listed.length === 0 ? 'newRun.noGpu' : 'newRun.noUsableGpu')}>
          {(probe.no_gpu_code && lookUp(`engine.no_gpu.${probe.no_gpu_code}`)) ?? probe.no_gpu_reason}{' '}
          {t('newRun.noGpuText', { cpu: probe.cpu.name, cores: probe.cpu.logical_cores })}
        </Banner>
      )}
      <GpuChoices probe={probe} choices={form.choices} onChange={(gpuUuids) => choose({ gpuUuids })} />
    </>
  );
}
