import { Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { RunBadge } from '../../components/feedback/StateBadge.tsx';
import {
  ROW_HEIGHT,
  VirtualTable,
  type TableSort,
  type VirtualColumn,
} from '../../components/table/VirtualTable.tsx';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { goToRun } from '../../state/navigation.ts';
import { describeInputs } from './describeRun.ts';
import classes from './History.module.css';
import { RunMenu } from './RunMenu.tsx';
import { sortedRuns, viralSequencesShown } from './runsShown.ts';

const MOST_IN_SIGHT = 12;
const ALL = {};
/** What a narrow window leaves out: it stands on the run's own screen. */
const MEDIUM = { time: false };
const SMALL = { settings: false, time: false };
const NARROW = { settings: false, time: false, inputs: false };
const NARROWEST = { ...NARROW, viral: false, created: false };
const NEWEST_FIRST: TableSort = { id: 'created', desc: true };

export function RunsTable({ runs }: { runs: readonly RunSummary[] }) {
  const texts = useTexts();
  const isMedium = useMediaQuery('(max-width: 1500px)', false, { getInitialValueInEffect: false });
  const isSmall = useMediaQuery('(max-width: 1350px)', false, { getInitialValueInEffect: false });
  const isNarrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  const isNarrowest = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false });
  const [sort, setSort] = useState(NEWEST_FIRST);
  const columns = useMemo(() => runColumns(texts), [texts]);
  const wide = isSmall ? SMALL : isMedium ? MEDIUM : ALL;
  const narrow = isNarrowest ? NARROWEST : NARROW;
  const hidden = isNarrow ? narrow : wide;
  const sorted = useMemo(() => sortedRuns(runs, sort, texts), [runs, sort, texts]);
  const rowAt = useMemo(() => (index: number) => sorted[index], [sorted]);
  return (
    <VirtualTable
      label={texts.t('history.all')}
      columns={columns}
      hiddenColumns={hidden}
      total={sorted.length}
      rowAt={rowAt}
      sort={sort}
      onSort={setSort}
      onOpen={openRun}
      height={(Math.max(3, Math.min(runs.length, MOST_IN_SIGHT)) + 1) * ROW_HEIGHT + 4}
      empty={<span className="muted">{texts.t('history.noneFit')}</span>}
    />
  );
}

const openRun = (run: RunSummary) => goToRun(run.runId, run.state.phase === 'done' ? 'results' : 'progress');

function runColumns(texts: Texts): VirtualColumn<RunSummary>[] {
  const { t, format } = texts;
  return [
    {
      id: 'name',
      firstSort: 'asc',
      title: t('history.column.name'),
      width: 'minmax(160px, 2fr)',
      cell: (row) => <Name run={row} notice={modelNotice(row.plan.model, texts)} />,
    },
    {
      id: 'state',
      firstSort: 'asc',
      title: t('files.column.state'),
      width: '176px',
      cell: (row) => <RunBadge run={row} />,
    },
    {
      id: 'inputs',
      firstSort: 'desc',
      title: t('history.column.inputs'),
      width: 'minmax(212px, 1fr)',
      cell: (row) => {
        const words = describeInputs(row, texts);
        return <span title={words}>{words}</span>;
      },
    },
    {
      id: 'settings',
      firstSort: 'asc',
      title: t('newRun.model'),
      width: '136px',
      cell: (run) => modelTitle(run.plan.model, texts),
      look: (run) => ({ title: modelTitle(run.plan.model, texts) }),
    },
    {
      id: 'viral',
      firstSort: 'desc',
      title: t('history.column.viral'),
      width: '146px',
      align: 'end',
      cell: (row) => {
        const [viral, { sequences }] = [viralSequencesShown(row), row];
        return viral === null || sequences === null
          ? '–'
          : t('common.of', { part: format.integer(viral), whole: format.integer(sequences) });
      },
    },
    {
      id: 'created',
      firstSort: 'desc',
      title: t('history.column.created'),
      width: '152px',
      align: 'end',
      cell: (row) => format.dateTime(row.createdAt),
    },
    {
      id: 'time',
      firstSort: 'desc',
      title: t('progress.elapsed'),
      width: '146px',
      align: 'end',
      cell: (row) => {
        const { computingSeconds } = row;
        return computingSeconds ? format.duration(computingSeconds) : '–';
      },
    },
    {
      id: 'menu',
      title: t('table.actions'),
      width: '48px',
      titleHidden: true,
      cell: (row) => <RunMenu key={row.runId} run={row} />,
    },
  ];
}

function Name({ run, notice }: { run: RunSummary; notice: string | null }) {
  const { t } = useTexts();
  return (
    <span title={[run.name, notice, run.folder, run.note].filter(Boolean).join('\n')}>
      <b>{run.name}</b>
      {notice !== null && (
        <Text span px={7} ml={6} bdrs={9} fz="xs" fw={600} bg="var(--warn-soft)">
          {t('model.mark')}
        </Text>
      )}
      {run.tags.map((tag) => (
        <span key={tag} className={classes.tag}>
          {tag}
        </span>
      ))}
      {run.note !== '' && <span className="muted"> {run.note}</span>}
    </span>
  );
}
