import { useQuery } from '@tanstack/react-query';
import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { EVIDENCE_RULE, type RunSummary, type SequenceFilter } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { PRESETS, showPreset, type Preset } from '../../../state/results/resultsView.ts';

const NAMES = Object.keys(PRESETS) as Preset[];

/** Preset selections with their meaning, and how many sequences of the run each contains. */
export function PresetsMenu({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  return (
    <Menu position="bottom-start" withArrow shadow="md" width={330}>
      <Menu.Target>
        <Button variant="default" size="compact-sm" rightSection={<IconChevronDown size={12} aria-hidden />}>
          {t('presets.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {NAMES.map((name) => (
          <PresetItem key={name} run={run} name={name} filter={PRESETS[name]} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function PresetItem({ run, name, filter }: { run: RunSummary; name: Preset; filter: SequenceFilter }) {
  const { t, format } = useTexts();
  const { data } = useQuery(
    queries.results.counts.queryOptions({ input: { runId: run.runId, filter }, staleTime: 0 }),
  );
  return (
    <Menu.Item
      onClick={() => showPreset(name)}
      rightSection={
        data && (
          <Text span fz="sm" fw={560}>
            {format.integer(data.total)}
          </Text>
        )
      }
    >
      <Text span fz="sm" fw={560} display="block">
        {t(`presets.${name}`)}
      </Text>
      <Text span fz="xs" c="dimmed" display="block">
        {t(`presets.${name}Text`, { score: format.decimal(EVIDENCE_RULE.strong.score, 1) })}
      </Text>
    </Menu.Item>
  );
}
