import { useMediaQuery } from '@mantine/hooks';
import { useMemo } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { RunBadge } from '../../components/StateBadge.tsx';
import type { VirtualColumn } from '../../components/table/virtualColumns.ts';
import { ROW_HEIGHT, VirtualTable } from '../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { goToRun } from '../../state/navigation.ts';
import { describeInputs, runSeconds } from './describeRun.ts';
import { RunMenu } from './RunMenu.tsx';

const MOST_IN_SIGHT = 12;
const ALL = {};
/** What a narrow window leaves out: it stands on the run's own screen. */
const NARROW = { settings: false, time: false, inputs: false };
const NARROWEST = { ...NARROW, viral: false, created: false };

export function RunsTable({ runs }: { runs: readonly RunSummary[] }) {
  const texts = useTexts();
  const isNarrow = useMediaQuery('(max-width: 1100px)', false, { getInitialValueInEffect: false });
  const isNarrowest = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false });
  const columns = useMemo(() => runColumns(texts), [texts]);
  const wide = isNarrow ? NARROW : ALL;
  const hidden = isNarrowest ? NARROWEST : wide;
  const rowAt = useMemo(() => (index: number) => runs[index], [runs]);
  return (
    <VirtualTable
      label={texts.t('history.all')}
      columns={columns}
      hiddenColumns={hidden}
      total={runs.length}
      rowAt={rowAt}
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
      header: t('history.column.name'),
      meta: { width: 'minmax(200px, 3fr)' },
      cell: ({ row }) => <b title={row.original.folder}>{row.original.name}</b>,
    },
    {
      id: 'state',
      header: t('files.column.state'),
      meta: { width: '154px' },
      cell: ({ row }) => <RunBadge run={row.original} />,
    },
    {
      id: 'inputs',
      header: t('history.column.inputs'),
      meta: { width: 'minmax(160px, 1fr)' },
      cell: ({ row }) => {
        const words = describeInputs(row.original, texts);
        return <span title={words}>{words}</span>;
      },
    },
    {
      id: 'settings',
      header: t('history.column.settings'),
      meta: { width: '96px' },
      cell: ({ row }) => (
        <span title={row.original.plan.model.title}>
          {row.original.plan.model.name} · {t(`precisionShort.${row.original.plan.precision}`)}
        </span>
      ),
    },
    {
      id: 'viral',
      header: t('history.column.viral'),
      meta: { width: '142px', align: 'end' },
      cell: ({ row }) => {
        const { viralSequences, sequences } = row.original;
        return viralSequences === null || sequences === null
          ? '–'
          : t('common.of', { part: format.integer(viralSequences), whole: format.integer(sequences) });
      },
    },
    {
      id: 'created',
      header: t('history.column.created'),
      meta: { width: '148px', align: 'end' },
      cell: ({ row }) => format.dateTime(row.original.createdAt),
    },
    {
      id: 'time',
      header: t('history.column.time'),
      meta: { width: '112px', align: 'end' },
      cell: ({ row }) => {
        const seconds = runSeconds(row.original);
        return seconds === null ? '–' : format.duration(seconds);
      },
    },
    {
      id: 'menu',
      header: t('table.actions'),
      meta: { width: '48px', headerHidden: true },
      cell: ({ row }) => <RunMenu key={row.original.runId} run={row.original} />,
    },
  ];
}
