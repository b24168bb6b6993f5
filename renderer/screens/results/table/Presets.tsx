import { useQuery } from '@tanstack/react-query';
import { Group, Text, UnstyledButton } from '@mantine/core';
import { EVIDENCE_RULE, type RunSummary, type SequenceFilter } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { PRESETS, showPreset, type Preset } from '../../../state/results/resultsView.ts';
import classes from '../ResultsTab.module.css';

const NAMES = Object.keys(PRESETS) as Preset[];

interface PresetsProps {
  run: RunSummary;
  onShow: () => void;
}

/** Preset selections with their meaning, and how many sequences of the run each contains. */
export function Presets({ run, onShow }: PresetsProps) {
  const { t } = useTexts();
  return (
    <div role="group" aria-label={t('presets.title')}>
      {NAMES.map((name) => (
        <PresetButton key={name} run={run} name={name} filter={PRESETS[name]} onShow={onShow} />
      ))}
    </div>
  );
}

interface PresetButtonProps extends PresetsProps {
  name: Preset;
  filter: SequenceFilter;
}

function PresetButton({ run, name, filter, onShow }: PresetButtonProps) {
  const { t, format } = useTexts();
  const { data } = useQuery(
    queries.results.counts.queryOptions({ input: { runId: run.runId, filter }, staleTime: 0 }),
  );
  return (
    <UnstyledButton
      className={classes.preset ?? ''}
      onClick={() => {
        showPreset(name);
        onShow();
      }}
    >
      <Group component="span" justify="space-between" fz="sm" fw={560}>
        {t(`presets.${name}`)}
        {data && <span>{format.integer(data.total)}</span>}
      </Group>
      <Text span fz="xs" c="dimmed" display="block">
        {t(`presets.${name}Text`, { score: format.decimal(EVIDENCE_RULE.strong.score, 1) })}
      </Text>
    </UnstyledButton>
  );
}
