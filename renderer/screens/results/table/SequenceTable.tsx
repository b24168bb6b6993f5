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
} from '../../../../electron/contract/index.ts';
import { Empty } from '../../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../../components/feedback/ErrorCard.tsx';
import { DENSE_ROW_HEIGHT, VirtualTable, type TableSort } from '../../../components/table/VirtualTable.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { usePagedRows } from '../../../state/results/pagedRows.ts';
import { changeView, clearFilters, useResultsView } from '../../../state/results/resultsView.ts';
import { shortlist, useSequenceNotes } from '../../../state/results/sequenceNotes.ts';
import classes from '../ResultsTab.module.css';
import { sequenceColumns } from './sequenceColumns.tsx';

interface SequenceTableProps {
  run: RunSummary;
  filter: SequenceFilter;
  /** Grows as results come in. */
  version: number;
}

export function SequenceTable({ run, filter, version }: SequenceTableProps) {
  const texts = useTexts();
  const { t } = texts;
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
  // Also where the view was reset since: the rows of a run that was shown before are there at once.
  useEffect(() => {
    if (shown !== total) changeView({ shown: total });
  }, [shown, total]);
  const { inputs, chunkLength, trusted } = run.plan;
  const others = useQuery(queries.results.otherTables.queryOptions({ input: { runId } })).data;
  const { notes } = useSequenceNotes(runId);
  const samples = useQuery({
    ...queries.results.samples.queryOptions({ input: { runId } }),
    enabled: inputs.length > 1,
  }).data?.names;
  const isPanelOpen = openRow !== null;
  const columns = useMemo(() => {
    const all = sequenceColumns(texts, {
      runId,
      inputName: (input) => fileName(inputs[input]?.path ?? ''),
      samples: samples && new Set(samples).size > 1 ? samples : null,
      chunkLength,
      others: (others ?? []).map(({ title }) => title),
      notes,
      isDone: run.state.phase === 'done',
      hasPairs: matesOf(inputs.map(({ path }) => path)).some((mate) => mate !== null),
      trusted,
    });
    return isPanelOpen ? all.filter(({ id }) => BESIDE_PANEL.has(id)) : all;
  }, [texts, runId, run.state.phase, inputs, samples, chunkLength, others, notes, trusted, isPanelOpen]);
  const onKey = useCallback(
    (key: string, { row, seqName }: ListedSequence) => {
      if (key.toLowerCase() === 's') shortlist(runId, { row, seqName }, !notes?.get(row)?.shortlisted);
    },
    [runId, notes],
  );
  const onSort = useCallback(({ id, desc }: TableSort) => {
    const by = sequenceSortSchema.shape.by.safeParse(id);
    if (by.success) changeView({ sort: { by: by.data, descending: desc } });
  }, []);
  if (rows.error) return <ErrorCard error={rows.error} />;
  return (
    <div className={classes.table}>
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
        // The panel shows the sequence that the keys have come to.
        onMove={isPanelOpen ? openSequence : undefined}
        onKey={onKey}
        rowHeight={DENSE_ROW_HEIGHT}
        height="auto"
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
    </div>
  );
}

/** What there is room for beside an open sequence. */
const BESIDE_PANEL: ReadonlySet<string> = new Set([
  ...['shortlisted', 'seqName', 'virusScore', 'ribbon', 'settled', 'evidence'],
]);

const openSequence = ({ row }: ListedSequence, index: number) =>
  changeView({ openRow: row, openIndex: index });
