import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Popover,
  Select,
  SimpleGrid,
} from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import { useState } from 'react';
import {
  COLUMN_LIMITS,
  evidenceSchema,
  isFraction,
  reasonSchema,
  sequenceColumn,
  type ColumnKey,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { Fold } from '../../../components/Fold.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import { changeFilter, useResultsView } from '../../../state/results/resultsView.ts';
import { useSamplesFound } from '../../../state/results/samplesFound.ts';
import classes from '../ResultsTab.module.css';
import { Presets } from './Presets.tsx';

/** Those that need no knowledge of how a call comes about. */
const USUAL: readonly ColumnKey[] = ['virusScore', 'length'];
const USUAL_LIMITS = COLUMN_LIMITS.filter(({ key }) => USUAL.includes(key));
const EXPERT_LIMITS = COLUMN_LIMITS.filter(({ key }) => !USUAL.includes(key));
type Limit = (typeof COLUMN_LIMITS)[number];

/** What a sequence has or has not. */
export const FLAGS = [
  { field: 'terminalRepeat', label: 'results.terminalRepeatOnly' },
  { field: 'otherCode', label: 'results.otherCodeOnly' },
] as const;

/** Those of the menu. */
const OFFERED = [
  ...COLUMN_LIMITS.map(({ field }) => field),
  'inputs',
  'reasons',
  'evidence',
  'settled',
  ...FLAGS.map(({ field }) => field),
] as const;

export const limitName = ({ t }: Texts, { key, how }: Limit) =>
  t(`results.limit.${how}`, { column: t(`column.${key}`) });

/** The limit as shown beside its name. */
export function limitText({ format }: Texts, { key }: Limit, value: number): string {
  const { kind } = sequenceColumn(key);
  if (kind === 'share') return format.percent(value);
  return kind === 'score' ? format.decimal(value, 2) : format.integer(value);
}

const PER_CENT = 100;
const WIDTH = 360;
/** Keeps the menu within the available height and width. */
const FITS = { flip: true, shift: true, size: true } as const;

/** Presets, and filters on the columns of the table. */
export function FiltersMenu({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const { filter } = useResultsView();
  const { reasons = [], evidence = [], settled = null } = filter;
  const used = OFFERED.filter((field) => filter[field] !== undefined).length;
  return (
    <Popover
      position="bottom-end"
      width={WIDTH}
      withArrow
      shadow="md"
      trapFocus
      middlewares={FITS}
      opened={isOpen}
      onChange={setOpen}
    >
      <Popover.Target>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          {t('results.filters', { count: used })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={classes.filters ?? ''}>
        <Presets run={run} onShow={() => setOpen(false)} />
        <SampleSelect run={run} />
        <SimpleGrid cols={2} spacing={12} verticalSpacing={10} style={{ alignItems: 'end' }}>
          {USUAL_LIMITS.map((limit) => (
            <NumberField key={limit.field} limit={limit} />
          ))}
        </SimpleGrid>
        <MultiSelect
          label={t('column.reason')}
          placeholder={reasons.length === 0 ? t('results.anyReason') : ''}
          comboboxProps={{ withinPortal: false }}
          data={reasonSchema.options.map((value) => ({ value, label: t(`reason.${value}`) }))}
          value={[...reasons]}
          onChange={(values) =>
            changeFilter({ reasons: reasonSchema.options.filter((reason) => values.includes(reason)) })
          }
        />
        <Checkbox.Group
          label={t('column.evidence')}
          value={[...evidence]}
          onChange={(values: string[]) =>
            changeFilter({ evidence: evidenceSchema.options.filter((level) => values.includes(level)) })
          }
        >
          <Group gap="md" mt={6}>
            {evidenceSchema.options.map((level) => (
              <Checkbox key={level} size="xs" value={level} label={t(`evidence.${level}`)} />
            ))}
          </Group>
        </Checkbox.Group>
        {FLAGS.map(({ field, label }) => (
          <Checkbox
            key={field}
            size="xs"
            label={t(label)}
            checked={filter[field] === true}
            onChange={(event) => changeFilter({ [field]: event.currentTarget.checked || null })}
          />
        ))}
        {(run.state.phase !== 'done' || settled !== null) && (
          <Select
            label={t('column.settled')}
            placeholder={t('results.settled.any')}
            comboboxProps={{ withinPortal: false }}
            clearable
            data={[
              { value: 'yes', label: t('settled.true') },
              { value: 'no', label: t('settled.false') },
            ]}
            value={settled === null ? null : settled ? 'yes' : 'no'}
            onChange={(chosen) => changeFilter({ settled: chosen === null ? null : chosen === 'yes' })}
          />
        )}
        <Fold
          title={t('results.expertFilters')}
          startsOpen={EXPERT_LIMITS.some(({ field }) => filter[field] !== undefined)}
        >
          <SimpleGrid cols={2} spacing={12} verticalSpacing={10} style={{ alignItems: 'end' }}>
            {EXPERT_LIMITS.map((limit) => (
              <NumberField key={limit.field} limit={limit} />
            ))}
          </SimpleGrid>
        </Fold>
      </Popover.Dropdown>
    </Popover>
  );
}

function SampleSelect({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const chosen = useResultsView((state) => state.filter.inputs);
  const { data } = useSamplesFound(run);
  if (!data || data.items.length < 2) return null;
  return (
    <Select
      searchable
      clearable
      label={t('common.sample')}
      placeholder={t('results.allSamples')}
      comboboxProps={{ withinPortal: false }}
      data={data.items.map(({ sample }) => sample)}
      value={data.items.find(({ inputs }) => inputs.join() === chosen?.join())?.sample ?? null}
      onChange={(name) =>
        changeFilter({ inputs: data.items.find(({ sample }) => sample === name)?.inputs ?? null })
      }
    />
  );
}

function NumberField({ limit }: { limit: Limit }) {
  const texts = useTexts();
  const { field } = limit;
  const value = useResultsView((state) => state.filter[field] ?? null);
  /** Keeps the text as typed: "0." may become 0.9. */
  const [draft, setDraft] = useState<number | string>('');
  const { kind } = sequenceColumn(limit.key);
  const unit = kind === 'share' ? PER_CENT : 1;
  const meant = (typed: number | string) => (Number(typed) > 0 ? Number(typed) / unit : null);
  return (
    <NumberInput
      label={limitName(texts, limit)}
      suffix={kind === 'share' ? ' %' : ''}
      min={0}
      {...(isFraction(limit.key) ? { max: unit, clampBehavior: 'strict' } : {})}
      step={kind === 'score' ? 0.05 : 1}
      {...(kind === 'score' ? { decimalScale: 4 } : {})}
      allowDecimal={kind === 'score'}
      value={meant(draft) === value ? draft : Number(((value ?? 0) * unit).toFixed(4)) || ''}
      onChange={(typed) => {
        setDraft(typed);
        changeFilter({ [field]: meant(typed) });
      }}
    />
  );
}
