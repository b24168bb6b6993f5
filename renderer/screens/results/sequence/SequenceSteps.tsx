import { ActionIcon, Group } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import type { RunSummary, SequenceResult } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { changeView, filterOf, useResultsView } from '../../../state/results/resultsView.ts';

/** Elements that handle these keys themselves. */
export const OWN_KEYS =
  'input, textarea, select, [role="grid"], [role="listbox"], [role="menu"], [role="region"]';

/** Moves to the previous or next sequence, in the order of the table, by buttons and arrow keys. Renders nothing if the sequence
 * was not opened from the table. */
export function SequenceSteps({ run, row }: { run: RunSummary; row: number }) {
  const index = useResultsView((state) => state.openIndex);
  return index === null ? null : <Steps run={run} row={row} index={index} />;
}

function Steps({ run, row, index }: { run: RunSummary; row: number; index: number }) {
  const { t, format } = useTexts();
  const view = useResultsView();
  const filter = useMemo(() => filterOf(view), [view]);
  const offset = Math.max(0, index - 1);
  const { data } = useQuery({
    ...queries.results.page.queryOptions({
      input: { runId: run.runId, filter, sort: view.sort, offset, limit: 3 },
    }),
    placeholderData: keepPreviousData,
    select: ({ total, items }) => ({ total, ...neighboursOf(items, row, index - offset) }),
  });
  const step = (by: -1 | 1) => {
    const to = by === -1 ? data?.before : data?.behind;
    if (to !== undefined) changeView({ openRow: to, openIndex: index + by });
  };
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target instanceof Element && event.target.closest(OWN_KEYS)) return;
    // A dialog covers the sequence.
    if (document.querySelector('[role="dialog"]')) return;
    step(event.key === 'ArrowLeft' ? -1 : 1);
  });
  return (
    <Group gap={6} wrap="nowrap">
      <StepButton label={t('chunks.previous')} keys="ArrowLeft" to={data?.before} onClick={() => step(-1)}>
        <IconChevronLeft size={18} aria-hidden />
      </StepButton>
      <StepButton label={t('chunks.next')} keys="ArrowRight" to={data?.behind} onClick={() => step(1)}>
        <IconChevronRight size={18} aria-hidden />
      </StepButton>
      <span className="muted" aria-live="polite">
        {data && t('common.of', { part: format.integer(index + 1), whole: format.integer(data.total) })}
      </span>
    </Group>
  );
}

interface StepButtonProps {
  label: string;
  keys: string;
  to: number | undefined;
  onClick: () => void;
  children: ReactNode;
}

/** At the end of the list the button keeps the focus and does nothing. */
function StepButton({ label, keys, to, onClick, children }: StepButtonProps) {
  return (
    <ActionIcon
      variant="default"
      size="md"
      aria-label={label}
      title={label}
      aria-keyshortcuts={keys}
      aria-disabled={to === undefined}
      data-disabled={to === undefined}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}

/** The rows before and after one in a list. While a run computes, new sequences may have been inserted before it. */
function neighboursOf(
  items: readonly Pick<SequenceResult, 'row'>[],
  row: number,
  place: number,
): { before: number | undefined; behind: number | undefined } {
  const found = items.findIndex((item) => item.row === row);
  const at = found === -1 ? place : found;
  return { before: items[at - 1]?.row, behind: items[at + 1]?.row };
}
