import { isAtWork } from '../../../electron/contract/runState.ts';
import { fileName } from '../../i18n/names.ts';
import { queries } from '../../state/connection.ts';
import { Box } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo } from 'react';
import type { InputStatus, RunSummary } from '../../../electron/contract/index.ts';
import { Section } from '../../components/Card.tsx';
import { ProblemList } from '../../components/files/ProblemList.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { StateBadge } from '../../components/feedback/StateBadge.tsx';
import { ROW_HEIGHT, type VirtualColumn, VirtualTable } from '../../components/table/VirtualTable.tsx';
import { type Texts, useTexts } from '../../i18n/index.ts';
import { usePagedRows } from '../../state/results/pagedRows.ts';
import { whileInWork } from './whileInWork.ts';

interface InputsCardProps {
  run: RunSummary;
  selected: number | null;
  onSelect: (input: InputStatus) => void;
}

const ROWS_IN_SIGHT = 7;
/** Columns hidden in a narrow window: the progress of each file comes first. */
const ALL = {};
const NARROW = { records: false, bases: false, seconds: false };
const NARROWEST = { ...NARROW, problems: false };

export function InputsCard({ run, selected, onSelect }: InputsCardProps) {
  const texts = useTexts();
  const { t } = texts;
  const rows = usePagedRows((range) => ({
    ...queries.runs.inputs.queryOptions({ input: { runId: run.runId, ...range } }),
    ...whileInWork(run),
  }));
  const isNarrow = useMediaQuery('(max-width: 800px)', false, { getInitialValueInEffect: false });
  const isNarrowest = useMediaQuery('(max-width: 560px)', false, { getInitialValueInEffect: false });
  const columns = useMemo(() => inputColumns(texts, isAtWork(run)), [texts, run]);
  const total = rows.total ?? run.plan.inputs.length;
  const chosen = selected === null ? undefined : rows.rowAt(selected);
  return (
    <Section
      title={t('run.shortTab.files')}
      aside={run.plan.inputs.length > 1 ? t('files.inputsHint') : undefined}
    >
      {rows.error && <ErrorCard error={rows.error} />}
      <div data-live>
        <VirtualTable
          label={t('run.shortTab.files')}
          columns={columns}
          hiddenColumns={isNarrowest ? NARROWEST : isNarrow ? NARROW : ALL}
          total={total}
          rowAt={rows.rowAt}
          onRangeChange={rows.onRangeChange}
          onOpen={onSelect}
          isOpen={(input) => input.input === selected}
          height={(Math.min(total, ROWS_IN_SIGHT) + 1) * ROW_HEIGHT + 4}
          empty={null}
        />
      </div>
      {chosen && chosen.problems.length > 0 && (
        <Box mt={12}>
          <ProblemList problems={chosen.problems} />
        </Box>
      )}
    </Section>
  );
}

function inputColumns({ t, format }: Texts, inWork: boolean): VirtualColumn<InputStatus>[] {
  return [
    {
      id: 'name',
      title: t('common.file'),
      width: 'minmax(clamp(92px, 19vw, 140px), 2fr)',
      cell: (row) => <span title={row.path}>{fileName(row.path)}</span>,
    },
    {
      id: 'state',
      title: t('files.column.state'),
      width: '168px',
      cell: (row) => <StateBadge state={`inputState.${shownState(row.state, inWork)}`} />,
    },
    {
      id: 'records',
      title: t('common.sequences'),
      width: '110px',
      align: 'end',
      cell: (row) => (row.records === null ? '–' : format.integer(row.records)),
    },
    {
      id: 'bases',
      title: t('common.bases'),
      width: '96px',
      align: 'end',
      cell: (row) => (row.bases === null ? '–' : format.bases(row.bases)),
    },
    {
      id: 'progress',
      title: t('run.tab.progress'),
      width: 'minmax(110px, 1fr)',
      cell: (row) => {
        const { residues, state } = row;
        const fraction = state === 'done' ? 1 : residues.total > 0 ? residues.done / residues.total : 0;
        return (
          <ProgressBar
            label={t('files.progressOf', { name: fileName(row.path) })}
            fraction={fraction}
            tone={state === 'done' ? 'good' : state === 'done_with_failures' ? 'warn' : 'active'}
          />
        );
      },
    },
    {
      id: 'seconds',
      title: t('files.column.deviceTime'),
      hint: t('files.hint.deviceTime'),
      width: '112px',
      align: 'end',
      cell: (row) => {
        const { deviceSeconds } = row;
        return deviceSeconds === 0 ? '–' : format.duration(deviceSeconds);
      },
    },
    {
      id: 'problems',
      title: t('files.column.notes'),
      width: '96px',
      align: 'end',
      cell: (row) => {
        const count = row.problems.reduce((sum, problem) => sum + problem.count, 0);
        return count === 0 ? '–' : format.integer(count);
      },
    },
  ];
}

/** No file of a resting run is being worked on. */
function shownState(state: InputStatus['state'], inWork: boolean): InputStatus['state'] {
  return !inWork && (state === 'working' || state === 'preparing') ? 'waiting' : state;
}
