import { Group, NumberInput, Select } from '@mantine/core';
import { useState } from 'react';
import type { Goal } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';

const KINDS = ['end', 'half_width', 'time'] as const;
type Kind = (typeof KINDS)[number];
const MINUTE = 60;
/** A run that takes less is over before anybody could say that enough is known. */
const SHORT_SECONDS = 5 * MINUTE;
const PER_CENT = 100;
const USUAL: Readonly<Record<Kind, Goal | null>> = {
  end: null,
  half_width: { kind: 'half_width', share: 0.005 },
  time: { kind: 'time', seconds: 30 * MINUTE, from: 0 },
};

interface GoalFieldProps {
  goal: Goal | null;
  onChange: (goal: Goal | null) => void;
  /** Whether an even sample of everything is computed first. Without one, only a time can be a goal. */
  isSample: boolean;
  /** How long the run takes at most; null if that is not known. */
  seconds: number | null;
}

/** Lets the user choose when a run may stop before everything is computed. */
export function GoalField({ goal, onChange, isSample, seconds }: GoalFieldProps) {
  const { t } = useTexts();
  if (goal === null && seconds !== null && seconds < SHORT_SECONDS) return null;
  const kind = goal?.kind ?? 'end';
  return (
    <Group gap={8} align="flex-start" wrap="nowrap">
      <Select
        flex={1}
        inputWrapperOrder={['label', 'input', 'description']}
        label={t('goal.title')}
        description={t('goal.help')}
        allowDeselect={false}
        data={KINDS.map((value) => ({
          value,
          label: t(`goal.${value}`),
          disabled: !isSample && value === 'half_width',
        }))}
        value={kind}
        onChange={(chosen) => {
          const next = KINDS.find((known) => known === chosen) ?? 'end';
          if (next !== kind) onChange(USUAL[next]);
        }}
      />
      {goal?.kind === 'half_width' && (
        <Amount
          label={t('goal.percent')}
          value={goal.share * PER_CENT}
          max={50}
          onChange={(percent) => onChange({ kind: 'half_width', share: percent / PER_CENT })}
        />
      )}
      {goal?.kind === 'time' && (
        <Amount
          label={t('goal.minutes')}
          value={goal.seconds / MINUTE}
          max={1_000_000}
          onChange={(minutes) => onChange({ kind: 'time', seconds: minutes * MINUTE, from: 0 })}
        />
      )}
    </Group>
  );
}

interface AmountProps {
  label: string;
  value: number;
  max: number;
  onChange: (value: number) => void;
}

/** Applies the value only when typing has ended. */
function Amount({ label, value, max, onChange }: AmountProps) {
  const [typed, setTyped] = useState<number | string | null>(null);
  return (
    <NumberInput
      w={110}
      label={label}
      min={0}
      max={max}
      decimalScale={3}
      value={typed ?? Number(value.toPrecision(6))}
      onChange={setTyped}
      onBlur={() => {
        if (typeof typed === 'number' && typed > 0 && typed !== value) onChange(typed);
        setTyped(null);
      }}
    />
  );
}
