import { Button, Checkbox, Group, NumberInput, Radio, TextInput } from '@mantine/core';
import { THIS_COMPUTER, type WindowWhere } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { installRay, useEnvironment } from '../../../state/computer/environment.ts';
import { placeOf, useSlurm } from '../../../state/newRun/slurm.ts';
import { SlurmFields } from '../slurm/SlurmFields.tsx';
import classes from './WhereChoice.module.css';

type Ray = Extract<WindowWhere, { kind: 'ray' }>;

const STARTS: Readonly<Record<WindowWhere['kind'], () => WindowWhere>> = {
  this_computer: () => THIS_COMPUTER,
  ray: () => ({ kind: 'ray', address: '', shared_storage: true, cpu_workers_per_node: 0 }),
  slurm: () => placeOf(useSlurm.getState()),
};
const KINDS = Object.keys(STARTS) as WindowWhere['kind'][];

interface WhereChoiceProps {
  where: WindowWhere;
  onChange: (where: WindowWhere) => void;
}

/** This computer, or a cluster and how it is found. */
export function WhereChoice({ where, onChange }: WhereChoiceProps) {
  const { t } = useTexts();
  return (
    <div className={classes.where}>
      <Radio.Group label={t('where.label')} value={where.kind} onChange={(kind) => onChange(STARTS[kind]())}>
        <Group mt={6} gap="lg">
          {KINDS.map((kind) => (
            <Radio key={kind} value={kind} label={t(`where.${kind}`)} />
          ))}
        </Group>
      </Radio.Group>
      {where.kind === 'ray' && <RayFields ray={where} onChange={onChange} />}
      {where.kind === 'slurm' && <SlurmFields place={where} onChange={onChange} />}
    </div>
  );
}

function RayFields({ ray, onChange }: { ray: Ray; onChange: (ray: Ray) => void }) {
  const { t } = useTexts();
  return (
    <div className={classes.fields}>
      <div className={classes.wide}>
        <RayMissing />
      </div>
      <TextInput
        label={t('where.rayAddress')}
        description={t('where.rayAddressHelp')}
        placeholder="head-node:6379"
        maxLength={300}
        value={ray.address}
        onChange={(event) => onChange({ ...ray, address: event.currentTarget.value.trim() })}
      />
      <NumberInput
        label={t('where.processors')}
        description={t('where.processorsHelp')}
        min={0}
        max={256}
        allowDecimal={false}
        value={ray.cpu_workers_per_node}
        onChange={(value) =>
          onChange({ ...ray, cpu_workers_per_node: typeof value === 'number' ? Math.max(0, value) : 0 })
        }
      />
      <Checkbox
        label={t('where.sharedStorage')}
        description={t('where.sharedStorageHelp')}
        checked={ray.shared_storage}
        onChange={(event) => onChange({ ...ray, shared_storage: event.currentTarget.checked })}
      />
    </div>
  );
}

/** Ray is an option of the Python environment; one that is the user's own is left to them. */
function RayMissing() {
  const { t } = useTexts();
  const status = useEnvironment((state) => state.status);
  if (status?.state !== 'ready' || status.rayVersion !== null) return null;
  const install = (
    <Button size="compact-md" variant="default" onClick={() => void installRay()}>
      {t('where.rayInstall')}
    </Button>
  );
  return (
    <Banner tone="info" title={t('where.rayMissing')} actions={status.isOwn ? install : null}>
      {t(status.isOwn ? 'where.rayMissingText' : 'where.rayMissingElsewhere')}
    </Banner>
  );
}
