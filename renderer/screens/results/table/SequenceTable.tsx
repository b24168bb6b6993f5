import { fileName } from '../../../i18n/format.ts';
import { queries } from '../../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { IconFilterOff } from '@tabler/icons-react';
import { Button } from '@mantine/core';
import { useCallback, useEffect, useMemo } from 'react';
import {
  matesOf,
  sequenceSortSchema,
  type RunSummary,
  type SequenceFilter,
  type ListedSequence,
  type SequenceSort,
} from '../../../../electron/contract/index.ts';
import { Empty } from '../../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { VirtualTable, type TableSort } from '../../../components/table/VirtualTable.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { usePagedRows } from '../../../state/results/pagedRows.ts';
import { changeView, clearFilters, useResultsView } from '../../../state/results/resultsView.ts';
import { useSequenceNotes } from '../../../state/results/sequenceNotes.ts';
import { sequenceColumns } from './sequenceColumns.tsx';

interface SequenceTableProps {
  run: RunSummary;
  filter: SequenceFilter;
  sort: SequenceSort;
  hiddenColumns: Readonly<Record<string, boolean>>;
  /** Grows as results come in. */
  version: number;
}

export function SequenceTable({ run, filter, sort, hiddenColumns, version }: SequenceTableProps) {
  const texts = useTexts();
  const { t } = texts;
  const { runId } = run;
  const openRow = useResultsView((state) => state.openRow);
  const rows = usePagedRows((range) => {
    const asked = queries.results.page.queryOptions({ input: { runId, filter, sort, ...range } });
    return { ...asked, queryKey: [...asked.queryKey, run.state.phase, version] };
  });
  const { total } = rows;
  const shown = useResultsView((state) => state.shown);
  // Also where the view was reset since: the rows of a run that was shown before are there at once.
  useEffect(() => {
    if (shown !== total) changeView({ shown: total });
  }, [shown, total]);
  const { inputs, chunkLength } = run.plan;
  const others = useQuery(queries.results.otherTables.queryOptions({ input: { runId } })).data;
  const { notes } = useSequenceNotes(runId);
  const columns = useMemo(
    () =>
      sequenceColumns(
        texts,
        (input) => fileName(inputs[input]?.path ?? ''),
        chunkLength,
        (others ?? []).map(({ title }) => title),
        notes,
        matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null),
      ),
    [texts, inputs, chunkLength, others, notes],
  );
  const onSort = useCallback(({ id, desc }: TableSort) => {
    const by = sequenceSortSchema.shape.by.safeParse(id);
    if (by.success) changeView({ sort: { by: by.data, descending: desc } });
  }, []);
  return (
    <>
      {rows.error && <ErrorCard error={rows.error} />}
      <VirtualTable
        label={t('results.table')}
        columns={columns}
        hiddenColumns={hiddenColumns}
        total={rows.total ?? 0}
        rowAt={rows.rowAt}
        onRangeChange={rows.onRangeChange}
        sort={{ id: sort.by, desc: sort.descending }}
        onSort={onSort}
        onOpen={openSequence}
        isOpen={(row) => row.row === openRow}
        height="max(360px, calc(100dvh - 132px))"
        empty={
          <Empty
            icon={<IconFilterOff size={26} aria-hidden />}
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
    </>
  );
}

const openSequence = ({ row }: ListedSequence, index: number) =>
  changeView({ openRow: row, openIndex: index });
