import { queries } from '../../../state/connection.ts';
import { IconFilterOff } from '@tabler/icons-react';
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import {
  sequenceSortSchema,
  type RunSummary,
  type SequenceFilter,
  type ListedSequence,
} from '../../../../electron/contract/index.ts';
import { Empty } from '../../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import {
  DENSE_ROW_HEIGHT,
  VirtualTable,
  type TableSort,
  type VirtualColumn,
} from '../../../components/table/VirtualTable.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { usePagedRows } from '../../../state/results/pagedRows.ts';
import { changeView, clearFilters, useResultsView } from '../../../state/results/resultsView.ts';
import { shortlist, useShortlist } from '../../../state/results/shortlist.ts';
import classes from '../ResultsTab.module.css';
import type { OnTick } from './sequenceColumns.tsx';
import { useSequenceColumns } from './useSequenceColumns.ts';

interface SequenceTableProps {
  run: RunSummary;
  filter: SequenceFilter;
  /** Increases as results come in. */
  version: number;
}

export function SequenceTable({ run, filter, version }: SequenceTableProps) {
  const { t } = useTexts();
  const { runId } = run;
  const openRow = useResultsView((state) => state.openRow);
  const sort = useResultsView((state) => state.sort);
  const hiddenColumns = useResultsView((state) => state.hiddenColumns);
  const rows = usePagedRows((range) => {
    const asked = queries.results.page.queryOptions({ input: { runId, filter, sort, ...range } });
    return { ...asked, queryKey: [...asked.queryKey, run.state.phase, version] };
  });
  const { total } = rows;
  const shown = useResultsView((state) => state.shown);
  // This also applies after the view was reset: the rows of a run shown earlier are available at once.
  useEffect(() => {
    if (shown !== total) changeView({ shown: total });
  }, [shown, total]);
  const listed = useShortlist(runId);
  const { rowAt } = rows;
  const latest = useRef({ rowAt, ticked: 0 });
  useEffect(() => {
    latest.current.rowAt = rowAt;
  }, [rowAt]);
  const onTick = useCallback<OnTick>(
    (sequence, index, shortlisted, isRange) => {
      const { current } = latest;
      const [from, to] = isRange ? [current.ticked, index].toSorted((a, b) => a - b) : [index, index];
      current.ticked = index;
      const range = Array.from({ length: (to ?? 0) - (from ?? 0) + 1 }, (_, i) =>
        current.rowAt((from ?? 0) + i),
      );
      // If rows in between have not arrived, only the clicked one is marked.
      for (const one of range.includes(undefined) ? [sequence] : range)
        if (one) shortlist(runId, one.row, shortlisted);
    },
    [runId],
  );
  const isPanelOpen = openRow !== null;
  const all = useSequenceColumns(run, onTick);
  const isNarrow = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false });
  const columns = useMemo(() => {
    const some = isPanelOpen ? all.filter(({ id }) => BESIDE_PANEL.has(id)) : all;
    return isNarrow ? narrowed(some) : some;
  }, [all, isPanelOpen, isNarrow]);
  const onKey = useCallback(
    (key: string, { row }: ListedSequence) => {
      if (key.toLowerCase() === 's') shortlist(runId, row, !listed?.has(row));
    },
    [runId, listed],
  );
  const onSort = useCallback(({ id, desc }: TableSort) => {
    const by = sequenceSortSchema.shape.by.safeParse(id);
    if (by.success) changeView({ sort: { by: by.data, descending: desc } });
  }, []);
  if (rows.error) return <ErrorCard error={rows.error} />;
  return (
    <div className={classes.table}>
      <VirtualTable
        label={t('common.sequences')}
        columns={columns}
        hiddenColumns={hiddenColumns}
        total={rows.total ?? 0}
        rowAt={rows.rowAt}
        onRangeChange={rows.onRangeChange}
        sort={{ id: sort.by, desc: sort.descending }}
        onSort={onSort}
        onOpen={openSequence}
        isOpen={(row) => row.row === openRow}
        // The open panel follows the row that the keys select.
        onMove={isPanelOpen ? openSequence : undefined}
        onKey={onKey}
        rowHeight={DENSE_ROW_HEIGHT}
        height="auto"
        empty={
          <Empty
            icon={rows.total !== null && <IconFilterOff size={26} aria-hidden />}
            title={rows.total === null ? t('common.loading') : t('results.noneFit')}
            actions={
              rows.total !== null && (
                <Button variant="default" onClick={clearFilters}>
                  {t('results.clearFilters')}
                </Button>
              )
            }
          />
        }
      />
    </div>
  );
}

/** The columns that fit beside an open sequence. */
const BESIDE_PANEL: ReadonlySet<string> = new Set([
  ...['shortlisted', 'seqName', 'virusScore', 'ribbon', 'settled', 'evidence'],
]);

/** The columns that must be in sight on a narrow window, with the widths that allow it. */
const FIRST_WIDTHS: Readonly<Record<string, string>> = {
  shortlisted: '34px',
  seqName: 'minmax(126px, 2fr)',
  virusScore: '74px',
  ribbon: '106px',
  prediction: '84px',
};

function narrowed(columns: readonly VirtualColumn<ListedSequence>[]): VirtualColumn<ListedSequence>[] {
  const first = Object.entries(FIRST_WIDTHS).flatMap(([id, width]) =>
    columns.filter((column) => column.id === id).map((column) => ({ ...column, width })),
  );
  return [...first, ...columns.filter(({ id }) => !(id in FIRST_WIDTHS))];
}

const openSequence = ({ row }: ListedSequence) => changeView({ openRow: row });
