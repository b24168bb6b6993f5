import { Button, CloseButton, Group, Menu, Text, TextInput } from '@mantine/core';
import { IconDownload, IconFileText, IconSearch, IconStarFilled, IconX } from '@tabler/icons-react';
import { COLUMN_LIMITS, type RunSummary } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import {
  changeFilter,
  changeView,
  clearFilters,
  isFiltered,
  useResultsView,
  type FilterChange,
} from '../../../state/results/resultsView.ts';
import { useSamplesFound } from '../../../state/results/samplesFound.ts';
import { useShortlist } from '../../../state/results/shortlist.ts';
import { openRunDialog } from '../../../state/runs/runDialog.ts';
import classes from '../ResultsTab.module.css';
import { RunActionsMenu } from '../RunActionsMenu.tsx';
import { FiltersMenu, FLAGS, limitName, limitText } from './FiltersMenu.tsx';

/** The filters of the table, the number of its rows, and actions on them, in one line that never wraps: the table must not move. */
export function ResultsToolbar({ run, total }: { run: RunSummary; total: number | null }) {
  const { t, format } = useTexts();
  const view = useResultsView();
  return (
    <Group
      className={classes.toolbar ?? ''}
      gap={8}
      wrap="nowrap"
      role="search"
      aria-label={t('results.filter')}
    >
      <TextInput
        size="xs"
        className={classes.search ?? ''}
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
      <FiltersMenu run={run} />
      <Text role="status" fz="sm" c="dimmed" truncate>
        {view.shown === null || total === null
          ? t('common.loading')
          : isFiltered(view)
            ? t('results.shownOf', { shown: format.integer(view.shown), total: format.integer(total) })
            : t('results.shown', { count: view.shown })}
      </Text>
      <div className={classes.active}>
        {isFiltered(view) && (
          <Button variant="default" size="compact-xs" onClick={clearFilters}>
            {t('results.clearFilters')}
          </Button>
        )}
        <ActiveFilters run={run} />
      </div>
      <Group gap={8} wrap="nowrap">
        <ShortlistMenu run={run} />
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

/** The filters that are set, each with a button that removes it. */
function ActiveFilters({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const { filter, otherTitle } = useResultsView();
  const samples = useSamplesFound(run).data?.items ?? [];
  const { predictions = [], evidence = [], reasons = [], other, settled, inputs } = filter;
  const sample = samples.find((one) => one.inputs.join() === inputs?.join())?.sample;
  const active: { label: string; remove: FilterChange }[] = [
    // One call alone is the pressed button above.
    ...(predictions.length < 2 ? [] : predictions).map((call) => ({
      label: t(`prediction.${call}`),
      remove: { predictions: predictions.filter((one) => one !== call) },
    })),
    ...(inputs ? [{ label: sample ?? t('common.sample'), remove: { inputs: null } }] : []),
    ...(filter.shortlisted ? [{ label: t('shortlist.title'), remove: { shortlisted: null } }] : []),
    ...(other
      ? [{ label: t(`others.agreement.${other.agreement}`, { title: otherTitle }), remove: { other: null } }]
      : []),
    ...evidence.map((level) => ({
      label: `${t('column.evidence')}: ${t(`evidence.${level}`)}`,
      remove: { evidence: evidence.filter((one) => one !== level) },
    })),
    ...COLUMN_LIMITS.flatMap((limit) => {
      const value = filter[limit.field];
      if (value === undefined) return [];
      const label = `${limitName(texts, limit)}: ${limitText(texts, limit, value)}`;
      return [{ label, remove: { [limit.field]: null } }];
    }),
    ...reasons.map((reason) => ({
      label: t(`reason.${reason}`),
      remove: { reasons: reasons.filter((one) => one !== reason) },
    })),
    ...(settled === undefined
      ? []
      : [{ label: t(settled ? 'settled.true' : 'settled.false'), remove: { settled: null } }]),
    ...FLAGS.flatMap(({ field, label }) =>
      filter[field] ? [{ label: t(label), remove: { [field]: null } }] : [],
    ),
  ];
  return (
    <>
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
  const { t, format } = useTexts();
  const { runId } = run;
  const count = useShortlist(runId)?.size ?? 0;
  if (count === 0) return null;
  const show = () => {
    changeView({ filter: { shortlisted: true } });
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
      </Menu.Dropdown>
    </Menu>
  );
}
