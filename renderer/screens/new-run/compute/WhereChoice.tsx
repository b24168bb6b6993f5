import { Box, Button, Group, NumberInput, Radio, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  MOST_CLUSTER_SHARES,
  THIS_COMPUTER,
  USUAL_RAY_SHARES,
  type WindowWhere,
} from '../../../../electron/contract/index.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { installRay, useEnvironment } from '../../../state/computer/environment.ts';
import { useSettings } from '../../../state/settings.ts';
import { rememberedPlace } from '../../../state/newRun/slurm.ts';
import { SlurmFields } from '../slurm/SlurmFields.tsx';

type Ray = Extract<WindowWhere, { kind: 'ray' }>;

const STARTS: Readonly<Record<WindowWhere['kind'], () => WindowWhere>> = {
  this_computer: () => THIS_COMPUTER,
  ray: () => ({ kind: 'ray', address: '', shares: USUAL_RAY_SHARES, cpus: 0, workers: 0 }),
  slurm: rememberedPlace,
};

interface WhereChoiceProps {
  where: WindowWhere;
  onChange: (where: WindowWhere) => void;
}

/** Lets the user choose this computer, or a cluster and how to reach it. Clusters are offered only to those who want them, or whose run has one. */
export function WhereChoice({ where, onChange }: WhereChoiceProps) {
  const { t } = useTexts();
  const offersClusters = useSettings(({ settings }) => settings?.clusters ?? false);
  const [first] = useState(where.kind);
  const kinds = (Object.keys(STARTS) as WindowWhere['kind'][]).filter(
    (kind) => offersClusters || [THIS_COMPUTER.kind, first, where.kind].includes(kind),
  );
  if (kinds.length === 1) return null;
  return (
    <Box mb={16}>
      <Radio.Group label={t('where.label')} value={where.kind} onChange={(kind) => onChange(STARTS[kind]())}>
        <Group mt={6} gap="lg">
          {kinds.map((kind) => (
            <Radio key={kind} value={kind} label={t(`where.${kind}`)} />
          ))}
        </Group>
      </Radio.Group>
      {where.kind === 'ray' && <RayFields ray={where} onChange={onChange} />}
      {where.kind === 'slurm' && <SlurmFields place={where} onChange={onChange} />}
    </Box>
  );
}

function RayFields({ ray, onChange }: { ray: Ray; onChange: (ray: Ray) => void }) {
  const { t } = useTexts();
  const count = (field: 'shares' | 'cpus' | 'workers', least: number, label: string, help: string) => (
    <NumberInput
      label={label}
      description={help}
      min={least}
      max={MOST_CLUSTER_SHARES}
      allowDecimal={false}
      value={ray[field]}
      onChange={(value) => onChange({ ...ray, [field]: Math.max(least, Number(value) || least) })}
    />
  );
  return (
    <SimpleGrid minColWidth="min(260px, 100%)" autoFlow="auto-fill" spacing={14} mt={12}>
      <div className="unless-empty" style={{ gridColumn: '1 / -1' }}>
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
      {count('shares', 1, t('where.shares'), t('where.sharesHelp'))}
      {count('cpus', 0, t('where.processors'), t('where.processorsHelp'))}
      {count('workers', 0, t('where.workers'), t('where.workersHelp'))}
    </SimpleGrid>
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
