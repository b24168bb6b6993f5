import { useMediaQuery } from '@mantine/hooks';
import type { SortingState } from '@tanstack/react-table';
import { useMemo, useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { RunBadge } from '../../components/feedback/StateBadge.tsx';
import type { VirtualColumn } from '../../components/table/virtualColumns.ts';
import { ROW_HEIGHT, VirtualTable } from '../../components/table/VirtualTable.tsx';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { goToRun } from '../../state/navigation.ts';
import { describeInputs } from './describeRun.ts';
import classes from './History.module.css';
import { RunMenu } from './RunMenu.tsx';
import { sortedRuns } from './sortedRuns.ts';

const MOST_IN_SIGHT = 12;
const ALL = {};
/** What a narrow window leaves out: it stands on the run's own screen. */
const MEDIUM = { settings: false };
const SMALL = { settings: false, time: false };
const NARROW = { settings: false, time: false, inputs: false };
const NARROWEST = { ...NARROW, viral: false, created: false };
const NEWEST_FIRST: SortingState = [{ id: 'created', desc: true }];

export function RunsTable({ runs }: { runs: readonly RunSummary[] }) {
  const texts = useTexts();
  const isMedium = useMediaQuery('(max-width: 1500px)', false, { getInitialValueInEffect: false });
  const isSmall = useMediaQuery('(max-width: 1350px)', false, { getInitialValueInEffect: false });
  const isNarrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  const isNarrowest = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false });
  const [sorting, setSorting] = useState(NEWEST_FIRST);
  const columns = useMemo(() => runColumns(texts), [texts]);
  const wide = isSmall ? SMALL : isMedium ? MEDIUM : ALL;
  const narrow = isNarrowest ? NARROWEST : NARROW;
  const hidden = isNarrow ? narrow : wide;
  const sorted = useMemo(() => sortedRuns(runs, sorting[0], texts), [runs, sorting, texts]);
  const rowAt = useMemo(() => (index: number) => sorted[index], [sorted]);
  return (
    <VirtualTable
      label={texts.t('history.all')}
      columns={columns}
      hiddenColumns={hidden}
      total={sorted.length}
      rowAt={rowAt}
      sorting={sorting}
      onSort={setSorting}
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
      accessorKey: 'name',
      header: t('history.column.name'),
      meta: { width: 'minmax(160px, 2fr)' },
      cell: ({ row }) => <Name run={row.original} />,
    },
    {
      id: 'state',
      accessorFn: (run) => run.state.phase,
      header: t('files.column.state'),
      meta: { width: '176px' },
      cell: ({ row }) => <RunBadge run={row.original} />,
    },
    {
      id: 'inputs',
      accessorFn: (run) => run.plan.inputs.length,
      header: t('history.column.inputs'),
      meta: { width: 'minmax(212px, 1fr)' },
      cell: ({ row }) => {
        const words = describeInputs(row.original, texts);
        return <span title={words}>{words}</span>;
      },
    },
    {
      id: 'settings',
      accessorFn: (run) => modelTitle(run.plan.model, texts),
      header: t('newRun.model'),
      meta: { width: '136px' },
      cell: ({ getValue }) => <span title={getValue<string>()}>{getValue<string>()}</span>,
    },
    {
      id: 'viral',
      accessorFn: (run) => run.viralSequences,
      header: t('history.column.viral'),
      meta: { width: '146px', align: 'end' },
      cell: ({ row }) => {
        const { viralSequences, sequences } = row.original;
        return viralSequences === null || sequences === null
          ? '–'
          : t('common.of', { part: format.integer(viralSequences), whole: format.integer(sequences) });
      },
    },
    {
      id: 'created',
      accessorKey: 'createdAt',
      header: t('history.column.created'),
      meta: { width: '152px', align: 'end' },
      cell: ({ row }) => format.dateTime(row.original.createdAt),
    },
    {
      id: 'time',
      accessorFn: (run) => run.computingSeconds,
      header: t('progress.elapsed'),
      meta: { width: '146px', align: 'end' },
      cell: ({ row }) => {
        const { computingSeconds } = row.original;
        return computingSeconds === null ? '–' : format.duration(computingSeconds);
      },
    },
    {
      id: 'menu',
      header: t('table.actions'),
      enableSorting: false,
      meta: { width: '48px', headerHidden: true },
      cell: ({ row }) => <RunMenu key={row.original.runId} run={row.original} />,
    },
  ];
}

function Name({ run }: { run: RunSummary }) {
  return (
    <span title={[run.name, run.folder, run.note].filter(Boolean).join('\n')}>
      <b>{run.name}</b>
      {run.tags.map((tag) => (
        <span key={tag} className={classes.tag}>
          {tag}
        </span>
      ))}
      {run.note !== '' && <span className="muted"> {run.note}</span>}
    </span>
  );
}
