import { Box, Button, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { IconCopy } from '@tabler/icons-react';
import {
  shortTime,
  slurmJobProblems,
  slurmScript,
  type SlurmJob,
} from '../../../../electron/contract/terminal/slurmScript.ts';
import { Fold } from '../../../components/Fold.tsx';
import { useTexts } from '../../../i18n/index.ts';
import type { MessageKey } from '../../../i18n/index.ts';
import { useCopy } from '../../../state/clipboard.ts';
import type { SlurmSettings } from '../../../state/newRun/slurm.ts';
import classes from './SlurmForm.module.css';

const ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];
const GPU = ['gres', 'gpus', 'none'] as const;
const CONTAINER = ['none', 'apptainer', 'singularity'] as const;

/** The problem with a field that makes a script impossible. */
const WRONG: Readonly<Partial<Record<keyof SlurmJob, MessageKey>>> = {
  partition: 'slurm.wrong.name',
  account: 'slurm.wrong.name',
  qos: 'slurm.wrong.name',
  gpuType: 'slurm.wrong.name',
  cpus: 'slurm.wrong.count',
  tasks: 'slurm.wrong.count',
  mostAtOnce: 'slurm.wrong.count',
  memory: 'slurm.wrong.memory',
  time: 'slurm.wrong.time',
  modules: 'slurm.wrong.modules',
  image: 'slurm.wrong.image',
  gpusPerTask: 'slurm.wrong.count',
  program: 'slurm.wrong.path',
  extra: 'slurm.wrong.extra',
};

interface SlurmFormProps {
  settings: SlurmSettings;
  onChange: (settings: SlurmSettings) => void;
}

/** A job of a SLURM cluster: the resources that it requests, and the resulting script. */
export function SlurmForm({ settings, onChange }: SlurmFormProps) {
  const { t } = useTexts();
  const { job } = settings;
  const change = (changes: Partial<SlurmJob>) => onChange({ ...settings, job: { ...job, ...changes } });
  const problems = slurmJobProblems(job);
  const frame = (field: keyof SlurmJob) => {
    const wrong = problems.includes(field) ? WRONG[field] : undefined;
    return { inputWrapperOrder: ORDER, error: wrong && t(wrong) };
  };
  const text = (field: TextField, description?: MessageKey, placeholder?: string) => (
    <TextInput
      {...frame(field)}
      label={t(`slurm.${field}`)}
      description={description && t(description)}
      placeholder={placeholder ?? t('slurm.clusterDecides')}
      value={job[field]}
      onChange={(event) => change({ [field]: event.currentTarget.value })}
    />
  );
  const count = (
    field: 'tasks' | 'gpusPerTask' | 'cpus' | 'mostAtOnce',
    description?: MessageKey,
    placeholder?: string,
  ) => (
    <NumberInput
      {...frame(field)}
      label={t(`slurm.${field}`)}
      description={description && t(description)}
      placeholder={placeholder}
      min={1}
      allowDecimal={false}
      value={job[field] ?? ''}
      onChange={(value) =>
        change({
          [field]:
            typeof value === 'number' ? value : field === 'tasks' || field === 'gpusPerTask' ? 0 : null,
        })
      }
    />
  );
  return (
    <>
      <div className={classes.fields}>
        {count('tasks', 'slurm.tasksHelp')}
        <Select
          inputWrapperOrder={ORDER}
          label={t('slurm.gpu')}
          data={GPU.map((value) => ({ value, label: t(`slurm.gpu.${value}`) }))}
          allowDeselect={false}
          value={job.gpu}
          onChange={(value) => change({ gpu: GPU.find((known) => known === value) ?? 'gres' })}
        />
        {job.gpu !== 'none' && text('gpuType', undefined, t('slurm.anyGpu'))}
        {job.gpu !== 'none' && count('gpusPerTask', 'slurm.gpusPerTaskHelp')}
        {text('partition')}
        {text('account')}
        {text('time', shortTime(job.time) === null ? 'slurm.timeHelp' : 'slurm.timeShort')}
      </div>
      <Box pt="sm">
        <Fold title={t('slurm.more')} opened={problems.some((field) => IN_MORE.has(field))}>
          <div className={classes.fields}>
            {text('qos')}
            {count('cpus', undefined, t('slurm.clusterDecides'))}
            {text('memory', 'slurm.memoryHelp')}
            {count('mostAtOnce', 'slurm.mostAtOnceHelp', t('slurm.all'))}
            {text('modules', 'slurm.modulesHelp', '')}
            <Select
              inputWrapperOrder={ORDER}
              label={t('slurm.container')}
              data={CONTAINER.map((value) => ({
                value,
                label: value === 'none' ? t('slurm.container.none') : value,
              }))}
              allowDeselect={false}
              value={job.container}
              onChange={(value) =>
                change({ container: CONTAINER.find((known) => known === value) ?? 'none' })
              }
            />
            {job.container !== 'none' && text('image', undefined, '/images/pytorch.sif')}
            {text('program', 'slurm.programHelp', t('slurm.sameAsHere'))}
            <Textarea
              {...frame('extra')}
              className={classes.wide ?? ''}
              label={t('slurm.extra')}
              description={t('slurm.extraHelp')}
              autosize
              minRows={2}
              maxRows={8}
              value={job.extra}
              onChange={(event) => change({ extra: event.currentTarget.value })}
            />
          </div>
        </Fold>
      </Box>
      <div className={classes.fields}>
        <TextInput
          inputWrapperOrder={ORDER}
          className={classes.wide ?? ''}
          label={t('slurm.login')}
          description={t('slurm.loginHelp')}
          placeholder={t('slurm.loginHere')}
          value={settings.login}
          onChange={(event) => onChange({ ...settings, login: event.currentTarget.value })}
        />
      </div>
      <Script job={job} />
    </>
  );
}

type TextField =
  'partition' | 'account' | 'qos' | 'gpuType' | 'memory' | 'time' | 'modules' | 'image' | 'program';
const IN_MORE: ReadonlySet<keyof SlurmJob> = new Set([
  'qos',
  'cpus',
  'memory',
  'mostAtOnce',
  'modules',
  'image',
  'program',
  'extra',
]);

/** The exact script that is submitted. */
function Script({ job }: { job: SlurmJob }) {
  const { t } = useTexts();
  const copy = useCopy();
  const script = slurmScript(job);
  return (
    <Box pt="sm">
      <Fold title={t('slurm.preview')}>
        {script === null ? (
          <p className={classes.missing}>{t('slurm.noScript')}</p>
        ) : (
          <pre className={classes.script} tabIndex={0} role="region" aria-label={t('slurm.preview')}>
            {script}
          </pre>
        )}
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconCopy size={16} aria-hidden />}
          disabled={script === null}
          loading={copy.isPending}
          onClick={() => copy.mutate(script ?? '')}
        >
          {t('slurm.copy')}
        </Button>
      </Fold>
    </Box>
  );
}
