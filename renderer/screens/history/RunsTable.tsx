import { useMutation } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useCallback, useMemo, useState } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { chunkLengthsText, type RunSummary } from '../../../electron/contract/index.ts';
import { NotForResearch, RunBadge } from '../../components/feedback/StateBadge.tsx';
import {
  ROW_HEIGHT,
  VirtualTable,
  type CellLook,
  type TableSort,
  type VirtualColumn,
} from '../../components/table/VirtualTable.tsx';
import { modelNotice, modelTitle } from '../../state/computer/modelTexts.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { goToRun } from '../../state/navigation.ts';
import { resumeRun, useRuns } from '../../state/runs/runs.ts';
import classes from './History.module.css';
import { RunMenu } from './RunMenu.tsx';
import {
  describeInputs,
  runsInGroups,
  sizeOfInputs,
  type RunGroup,
  viralSequencesShown,
} from './runsShown.ts';

const ALL = {};
/** Columns hidden in a narrow window; the run's own screen shows them. */
const MEDIUM = { time: false };
const LAPTOP = { inputs: false, time: false };
const NARROW = { ...LAPTOP, created: false };
const NARROWEST = { ...NARROW, tick: false, model: false, calls: false };
const NEWEST_FIRST: TableSort = { id: 'created', desc: true };

/** A row of the list: the heading of a group, or a run. */
type Row =
  { readonly group: RunGroup; readonly run: null } | { readonly group: null; readonly run: RunSummary };

interface RunsTableProps {
  runs: readonly RunSummary[];
  ticked: readonly string[];
  onTick: (runId: string) => void;
}

export function RunsTable({ runs, ticked, onTick }: RunsTableProps) {
  const texts = useTexts();
  const isMedium = useMediaQuery('(max-width: 1500px)', false, { getInitialValueInEffect: false });
  const isLaptop = useMediaQuery('(max-width: 1320px)', false, { getInitialValueInEffect: false });
  const isNarrow = useMediaQuery('(max-width: 1180px)', false, { getInitialValueInEffect: false });
  const isNarrowest = useMediaQuery('(max-width: 800px)', false, { getInitialValueInEffect: false });
  const [sort, setSort] = useState(NEWEST_FIRST);
  const columns = useMemo(() => runColumns(texts, { ticked, onTick }), [texts, ticked, onTick]);
  const narrow = isNarrowest ? NARROWEST : NARROW;
  const wide = isLaptop ? LAPTOP : isMedium ? MEDIUM : ALL;
  const rows = useMemo(
    () =>
      runsInGroups(runs, sort, texts).flatMap(({ group, runs: some }): Row[] => [
        { group, run: null },
        ...some.map((run) => ({ group: null, run })),
      ]),
    [runs, sort, texts],
  );
  const rowAt = useCallback((index: number) => rows[index], [rows]);
  return (
    <div className={classes.table} data-live>
      <VirtualTable
        label={texts.t('nav.runs')}
        columns={columns}
        hiddenColumns={isNarrow ? narrow : wide}
        total={rows.length}
        rowAt={rowAt}
        sort={sort}
        onSort={setSort}
        onOpen={openRun}
        height={`min(${(Math.max(3, rows.length) + 1) * ROW_HEIGHT + 4}px, 100%)`}
        empty={<span className="muted">{texts.t('history.noneFit')}</span>}
      />
    </div>
  );
}

const openRun = ({ run }: Row) =>
  run && goToRun(run.runId, run.state.phase === 'done' ? 'results' : 'progress');

type Ticks = Pick<RunsTableProps, 'ticked' | 'onTick'>;
type RunColumn = Omit<VirtualColumn<RunSummary>, 'look'> & { readonly look?: (run: RunSummary) => CellLook };

const HEADING: CellLook = { className: classes.heading, style: { gridColumn: '1 / -1' } };
const COVERED: CellLook = { style: { display: 'none' } };

/** A group's heading takes the place of all cells in its row. */
function runColumns(texts: Texts, ticks: Ticks): VirtualColumn<Row>[] {
  return columnsOfRun(texts, ticks).map(({ cell, look, ...column }) => ({
    ...column,
    cell: ({ group, run }, index) =>
      run ? cell(run, index) : column.id === 'name' ? texts.t(`history.group.${group}`) : null,
    look: ({ run }) => (run ? (look?.(run) ?? {}) : column.id === 'name' ? HEADING : COVERED),
  }));
}

function columnsOfRun(texts: Texts, { ticked, onTick }: Ticks): RunColumn[] {
  const { t, format } = texts;
  return [
    {
      id: 'tick',
      title: t('history.tick'),
      titleHidden: true,
      width: '38px',
      cell: (run) =>
        mayHaveResults(run) && (
          <input
            type="checkbox"
            className="tick"
            aria-label={t('history.tickRun', { name: run.name })}
            checked={ticked.includes(run.runId)}
            onClick={(event) => event.stopPropagation()}
            onChange={() => onTick(run.runId)}
          />
        ),
    },
    {
      id: 'name',
      firstSort: 'asc',
      title: t('history.column.name'),
      width: 'minmax(150px, 5fr)',
      cell: (run) => (
        <>
          <b>{run.name}</b>
          {run.tags.map((tag) => (
            <span key={tag} className={classes.tag}>
              {tag}
            </span>
          ))}
          {run.note !== '' && <span className="muted"> {run.note}</span>}
        </>
      ),
      look: (run) => ({ title: [run.name, run.folder, run.note].filter(Boolean).join('\n') }),
    },
    {
      id: 'model',
      firstSort: 'asc',
      title: t('newRun.model'),
      width: '152px',
      cell: (run) => <ModelBadge run={run} />,
      look: ({ plan: { model } }) => ({ title: modelNotice(model, texts) ?? modelTitle(model, texts) }),
    },
    {
      id: 'inputs',
      firstSort: 'desc',
      title: t('run.tab.samples'),
      width: 'minmax(150px, 1fr)',
      cell: (run) => describeInputs(run, texts),
      look: (run) => ({ title: [format.fileSize(sizeOfInputs(run)), ...new Set(run.samples)].join('\n') }),
    },
    {
      id: 'calls',
      firstSort: 'desc',
      title: t('common.calledVirus'),
      hint: t('history.viralHint'),
      width: '166px',
      cell: (run) => <Outcome run={run} texts={texts} />,
    },
    {
      id: 'state',
      firstSort: 'asc',
      title: t('files.column.state'),
      width: '188px',
      cell: (run) => (
        <span className={classes.outcome}>
          <RunBadge run={run} />
          <Progress run={run} texts={texts} />
        </span>
      ),
    },
    {
      id: 'created',
      firstSort: 'desc',
      title: t('common.created'),
      width: '118px',
      align: 'end',
      cell: (run) => format.date(run.createdAt),
      look: (run) => ({ title: format.dateTime(run.createdAt) }),
    },
    {
      id: 'time',
      firstSort: 'desc',
      title: t('progress.elapsed'),
      width: '130px',
      align: 'end',
      cell: ({ computingSeconds }) => (computingSeconds ? format.duration(computingSeconds) : '–'),
    },
    {
      id: 'menu',
      title: t('table.actions'),
      width: '110px',
      align: 'end',
      titleHidden: true,
      cell: (run) => <RunMenu key={run.runId} run={run} />,
    },
  ];
}

const mayHaveResults = ({ state, missing }: RunSummary) => state.phase !== 'created' && !missing;

function ModelBadge({ run: { plan } }: { run: RunSummary }) {
  const { model } = plan;
  if (model.notice !== null) return <NotForResearch />;
  return /^\d+$/.test(model.name) ? `${chunkLengthsText(plan)} bp` : model.title;
}

/** The calls of a finished run as a bar, and how many of them are virus. */
function Outcome({ run, texts: { t, format } }: { run: RunSummary; texts: Texts }) {
  const { sequences, otherSequences } = run;
  const viral = viralSequencesShown(run);
  if (run.state.phase !== 'done' || viral === null || otherSequences === null) return '–';
  const called = viral + otherSequences;
  return (
    <span className={classes.outcome}>
      <span className={classes.bar} aria-hidden>
        <i style={{ flexGrow: viral, background: 'var(--virus)' }} />
        <i style={{ flexGrow: otherSequences, background: 'var(--others)' }} />
        <i style={{ flexGrow: (sequences ?? called) - called }} />
      </span>
      {t('common.of', { part: format.integer(viral), whole: format.integer(called) })}
    </span>
  );
}

/** How far a run is that is not done. */
function Progress({ run, texts: { format } }: { run: RunSummary; texts: Texts }) {
  if (run.queuePosition !== null && !isAtWork(run)) return <StartNow key={run.runId} run={run} />;
  return run.state.phase === 'done' || run.fraction === null ? null : format.progress(run.fraction);
}

/** For the first run in the queue if no run computes, since nothing starts by itself then. */
function StartNow({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const isHeld = useRuns((state) => state.runs?.some(isAtWork) === false && run.queuePosition === 0);
  const begin = useMutation({ mutationFn: resumeRun });
  if (!isHeld) return null;
  return (
    <Button
      size="compact-xs"
      loading={begin.isPending}
      onClick={(event) => {
        event.stopPropagation();
        begin.mutate(run);
      }}
    >
      {t('run.startNow')}
    </Button>
  );
}
