import { Button, Group, NumberInput, Radio, TextInput } from '@mantine/core';
import { MOST_CLUSTER_SHARES, THIS_COMPUTER, type WindowWhere } from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { installRay, useEnvironment } from '../../../state/computer/environment.ts';
import { placeOf, useSlurm } from '../../../state/newRun/slurm.ts';
import { SlurmFields } from '../slurm/SlurmFields.tsx';
import classes from './WhereChoice.module.css';

type Ray = Extract<WindowWhere, { kind: 'ray' }>;

const STARTS: Readonly<Record<WindowWhere['kind'], () => WindowWhere>> = {
  this_computer: () => THIS_COMPUTER,
  ray: () => ({ kind: 'ray', address: '', shares: 8, cpus: 0, workers: 0 }),
  slurm: () => placeOf(useSlurm.getState()),
};
const KINDS = Object.keys(STARTS) as WindowWhere['kind'][];

interface WhereChoiceProps {
  where: WindowWhere;
  onChange: (where: WindowWhere) => void;
}

/** Lets the user choose this computer, or a cluster and how to reach it. */
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
        label={t('where.shares')}
        description={t('where.sharesHelp')}
        min={1}
        max={MOST_CLUSTER_SHARES}
        allowDecimal={false}
        value={ray.shares}
        onChange={(value) => onChange({ ...ray, shares: Math.max(1, Number(value) || 1) })}
      />
      <NumberInput
        label={t('where.processors')}
        description={t('where.processorsHelp')}
        min={0}
        max={256}
        allowDecimal={false}
        value={ray.cpus}
        onChange={(value) => onChange({ ...ray, cpus: Math.max(0, Number(value) || 0) })}
      />
      <NumberInput
        label={t('slurm.mostAtOnce')}
        description={t('where.workersHelp')}
        min={0}
        max={MOST_CLUSTER_SHARES}
        allowDecimal={false}
        value={ray.workers}
        onChange={(value) => onChange({ ...ray, workers: Math.max(0, Number(value) || 0) })}
      />
    </div>
  );
}

/** Ray is an optional part of the Python environment. The program does not install it into an environment of the user's own. */
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
