import { Button, Checkbox, CloseButton, Group, Menu, Popover, Select, TextInput } from '@mantine/core';
import {
  IconColumns3,
  IconDownload,
  IconFileText,
  IconSearch,
  IconStarFilled,
  IconX,
} from '@tabler/icons-react';
import { type RunSummary } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { engine } from '../../../state/connection.ts';
import { askAndSearchBlast } from '../../../state/results/blast.ts';
import {
  changeFilter,
  changeView,
  clearFilters,
  isFiltered,
  useResultsView,
  type FilterChange,
} from '../../../state/results/resultsView.ts';
import { useSamplesFound } from '../../../state/results/samplesFound.ts';
import { useSequenceNotes } from '../../../state/results/sequenceNotes.ts';
import { openRunDialog } from '../../../state/runs/runDialog.ts';
import { say, sayError } from '../../../state/say.ts';
import classes from '../ResultsTab.module.css';
import { RunActionsMenu } from '../RunActionsMenu.tsx';
import { LIMIT_FIELDS, limitText, MoreFilters } from './MoreFilters.tsx';
import { PresetsMenu } from './PresetsMenu.tsx';
import { useSequenceColumns } from './useSequenceColumns.ts';

/** The filters and presets of the table, the number of its rows, and actions on them. */
export function ResultsToolbar({ run, total }: { run: RunSummary; total: number | null }) {
  const { t, format } = useTexts();
  const view = useResultsView();
  return (
    <Group gap={8} role="search" aria-label={t('results.filter')} style={{ flex: 'none' }}>
      <TextInput
        size="xs"
        flex="1 1 90px"
        maw={260}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          view.filter.search !== undefined && (
            <CloseButton
              size="sm"
              aria-label={t('results.clearSearch')}
              onClick={() => changeFilter({ search: null })}
            />
          )
        }
        placeholder={t('results.search')}
        aria-label={t('results.search')}
        value={view.filter.search ?? ''}
        maxLength={200}
        onChange={(event) => changeFilter({ search: event.currentTarget.value })}
      />
      <SampleSelect run={run} />
      <PresetsMenu run={run} />
      <MoreFilters isDone={run.state.phase === 'done'} />
      <ActiveFilters />
      <Group component="span" gap={8} fz="sm" c="dimmed">
        <span role="status">
          {view.shown === null || total === null
            ? t('common.loading')
            : isFiltered(view)
              ? t('results.shownOf', { shown: format.integer(view.shown), total: format.integer(total) })
              : t('results.shown', { count: view.shown })}
        </span>
        {isFiltered(view) && (
          <Button variant="default" size="compact-xs" onClick={clearFilters}>
            {t('results.clearFilters')}
          </Button>
        )}
      </Group>
      <Group className={classes.actions ?? ''} gap={8} ml="auto" wrap="nowrap">
        <ShortlistMenu run={run} />
        <ColumnsMenu run={run} />
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconFileText size={16} aria-hidden />}
          onClick={() => openRunDialog(run.runId, 'report')}
        >
          {t('results.report')}
        </Button>
        <Button
          size="compact-sm"
          leftSection={<IconDownload size={16} aria-hidden />}
          variant="light"
          onClick={() => openRunDialog(run.runId, 'export')}
        >
          {t('common.export')}
        </Button>
        <RunActionsMenu run={run} />
      </Group>
    </Group>
  );
}

function SampleSelect({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const chosen = useResultsView((state) => state.filter.inputs);
  const { data } = useSamplesFound(run);
  if (!data || data.items.length < 2) return null;
  return (
    <Select
      size="xs"
      w={130}
      searchable
      clearable
      aria-label={t('common.sample')}
      placeholder={t('results.allSamples')}
      data={data.items.map(({ sample }) => sample)}
      value={data.items.find(({ inputs }) => inputs.join() === chosen?.join())?.sample ?? null}
      onChange={(name) =>
        changeFilter({ inputs: data.items.find(({ sample }) => sample === name)?.inputs ?? null })
      }
    />
  );
}

/** Filters that were set by a click elsewhere, each with a button that removes it. */
function ActiveFilters() {
  const texts = useTexts();
  const { t } = texts;
  const { filter, otherTitle, runId } = useResultsView();
  const { notes } = useSequenceNotes(runId ?? '');
  const hasNotes = [...(notes?.values() ?? [])].some(({ note, tags }) => note !== '' || tags.length > 0);
  const { predictions = [], evidence = [], reasons = [], other, settled } = filter;
  const active: { label: string; remove: FilterChange }[] = [
    ...predictions.map((call) => ({
      label: t(`prediction.${call}`),
      remove: { predictions: predictions.filter((one) => one !== call) },
    })),
    ...(filter.shortlisted ? [{ label: t('shortlist.title'), remove: { shortlisted: null } }] : []),
    ...(filter.noted ? [{ label: t('notes.only'), remove: { noted: null } }] : []),
    ...(other
      ? [{ label: t(`others.agreement.${other.agreement}`, { title: otherTitle }), remove: { other: null } }]
      : []),
    ...evidence.map((level) => ({
      label: `${t('results.column.evidence')}: ${t(`evidence.${level}`)}`,
      remove: { evidence: evidence.filter((one) => one !== level) },
    })),
    ...LIMIT_FIELDS.flatMap((field) => {
      const limit = filter[field];
      const label = `${t(`results.${field}`)}: ${limitText(texts, field, limit ?? 0)}`;
      return limit === undefined ? [] : [{ label, remove: { [field]: null } }];
    }),
    ...reasons.map((reason) => ({
      label: t(`reason.${reason}`),
      remove: { reasons: reasons.filter((one) => one !== reason) },
    })),
    ...(settled === undefined
      ? []
      : [{ label: t(settled ? 'results.settled.yes' : 'results.settled.no'), remove: { settled: null } }]),
    ...(filter.terminalRepeat
      ? [{ label: t('results.terminalRepeatOnly'), remove: { terminalRepeat: null } }]
      : []),
    ...(filter.otherCode ? [{ label: t('results.otherCodeOnly'), remove: { otherCode: null } }] : []),
  ];
  return (
    <>
      {hasNotes && !filter.noted && (
        <Button variant="default" size="compact-xs" onClick={() => changeFilter({ noted: true })}>
          {t('notes.only')}
        </Button>
      )}
      {active.map(({ label, remove }) => (
        <Button
          key={label}
          variant="light"
          size="compact-xs"
          rightSection={<IconX size={12} aria-hidden />}
          onClick={() => changeFilter(remove)}
        >
          {label}
        </Button>
      ))}
    </>
  );
}

/** The sequences that the user has shortlisted, and actions on all of them. Renders nothing while there are none. */
function ShortlistMenu({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t, format } = texts;
  const { runId } = run;
  const { notes } = useSequenceNotes(runId);
  const count = [...(notes?.values() ?? [])].filter(({ shortlisted }) => shortlisted).length;
  if (count === 0) return null;
  const show = () => {
    changeView({ filter: { shortlisted: true } });
  };
  const blast = async () => {
    const { fasta } = await engine.results.shortlistLetters({ runId });
    if (fasta === null) say(t('shortlist.tooLong'));
    else askAndSearchBlast({ program: 'blastn', query: fasta }, texts);
  };
  return (
    <Menu position="bottom-end" withArrow shadow="md">
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          px={8}
          aria-label={t('shortlist.count', { count: format.integer(count) })}
          leftSection={<IconStarFilled size={14} aria-hidden />}
        >
          {format.integer(count)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={show}>{t('shortlist.show')}</Menu.Item>
        <Menu.Item
          onClick={() => {
            show();
            openRunDialog(runId, 'export');
          }}
        >
          {t('shortlist.export')}
        </Menu.Item>
        <Menu.Item onClick={() => void blast().catch(sayError)}>{t('letters.blast')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Every column that the table of this run can have except the name, which identifies a sequence to people. */
function ColumnsMenu({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const columns = useSequenceColumns(run).filter(({ id }) => id !== 'seqName');
  const hiddenColumns = useResultsView((state) => state.hiddenColumns);
  return (
    <Popover position="bottom-end" withArrow shadow="md" trapFocus>
      <Popover.Target>
        <Button variant="default" size="compact-sm" leftSection={<IconColumns3 size={16} aria-hidden />}>
          {t('results.columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {columns.map(({ id, title }) => (
          <Checkbox
            key={id}
            my={6}
            size="xs"
            label={title}
            checked={hiddenColumns[id] !== false}
            onChange={(event) =>
              changeView({ hiddenColumns: { ...hiddenColumns, [id]: event.currentTarget.checked } })
            }
          />
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}
