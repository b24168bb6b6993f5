import { Text } from '@mantine/core';
import { useMemo } from 'react';
import type { ComparedList, ComparedSequence, RunSummary } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { DENSE_ROW_HEIGHT, VirtualTable, type VirtualColumn } from '../../components/table/VirtualTable.tsx';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { modelTitle } from '../../state/computer/modelTexts.ts';
import { queries } from '../../state/connection.ts';
import { usePagedRows } from '../../state/results/pagedRows.ts';
import { showSequence } from '../../state/results/resultsView.ts';
import { shortlist, useShortlist } from '../../state/results/shortlist.ts';
import { PredictionLabel } from '../results/callLabels.tsx';
import { Ribbon } from '../results/table/sequenceColumns.tsx';

const ROWS_IN_SIGHT = 12;

interface ComparedSequencesProps {
  title: string;
  list: ComparedList;
  runs: readonly [RunSummary, RunSummary];
}

/** Sequences of both runs, with their call and the scores along each in both. */
export function ComparedSequences({ title, list, runs }: ComparedSequencesProps) {
  const texts = useTexts();
  const { format } = texts;
  const [first, second] = runs;
  const rows = usePagedRows((range) =>
    queries.results.comparedPage.queryOptions({
      input: { runId: first.runId, otherRunId: second.runId, list, ...range },
    }),
  );
  const listed = useShortlist(first.runId);
  const otherListed = useShortlist(second.runId);
  const columns = useMemo(
    () => comparedColumns(texts, [first, second], [listed, otherListed]),
    [texts, first, second, listed, otherListed],
  );
  if (rows.error) return <ErrorCard error={rows.error} />;
  const total = rows.total ?? 0;
  return (
    <section>
      <Text component="h2" mb={8} fz="md" fw={600}>
        {title} ({format.integer(total)})
      </Text>
      <VirtualTable
        label={title}
        columns={columns}
        total={total}
        rowAt={rows.rowAt}
        onRangeChange={rows.onRangeChange}
        rowHeight={DENSE_ROW_HEIGHT}
        height={(Math.min(total, ROWS_IN_SIGHT) + 1) * DENSE_ROW_HEIGHT + 4}
        empty={null}
      />
    </section>
  );
}

function comparedColumns(
  texts: Texts,
  runs: readonly RunSummary[],
  shortlists: readonly (ReadonlySet<number> | null)[],
): VirtualColumn<ComparedSequence>[] {
  const { t, format } = texts;
  return [
    {
      id: 'seqName',
      title: t('column.seqName'),
      width: 'minmax(110px, 2fr)',
      cell: ({ seqName }) => seqName,
      look: ({ seqName }) => ({ title: seqName }),
    },
    {
      id: 'length',
      title: t('column.length'),
      width: '104px',
      align: 'end',
      cell: ({ length }) => format.integer(length),
    },
    ...runs.flatMap(({ runId, name, plan }, index): VirtualColumn<ComparedSequence>[] => {
      const side = index === 0 ? 'first' : 'second';
      return [
        {
          id: `${side} shortlisted`,
          title: t('shortlist.title'),
          titleHidden: true,
          hint: t('shortlist.hint'),
          width: '36px',
          cell: ({ seqName, [side]: { row } }) => (
            <input
              type="checkbox"
              className="tick"
              aria-label={t('compare.shortlist', { name: seqName, run: name })}
              checked={shortlists[index]?.has(row) ?? false}
              onChange={({ currentTarget }) => shortlist(runId, row, currentTarget.checked)}
            />
          ),
        },
        {
          id: `${side} ribbon`,
          title: name,
          hint: `${name} · ${modelTitle(plan.model, texts)}`,
          width: 'minmax(110px, 3fr)',
          cell: ({ seqName, [side]: { row, ribbon } }) => (
            <button
              type="button"
              className="link"
              title={t('compare.show')}
              onClick={() => showSequence(runId, row)}
            >
              <Ribbon steps={ribbon} label={t('compare.showIn', { name: seqName, run: name })} />
            </button>
          ),
        },
        {
          id: `${side} prediction`,
          title: t('column.prediction'),
          width: '104px',
          cell: (compared) => <PredictionLabel prediction={compared[side].prediction} />,
        },
        {
          id: `${side} virusScore`,
          title: t('column.virusScore'),
          width: '76px',
          align: 'end',
          cell: ({ [side]: { virusScore } }) => (virusScore === null ? '–' : format.score(virusScore)),
        },
      ];
    }),
  ];
}
