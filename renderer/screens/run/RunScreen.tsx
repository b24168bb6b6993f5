import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ComponentType } from 'react';
import { announce } from '../../components/feedback/Announcer.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { followRun, useLiveRun } from '../../state/runs/liveRun.ts';
import { runStatus, useRuns } from '../../state/runs/runs.ts';
import { Group, Tabs, Text } from '@mantine/core';
import { isAtWork, type RunSummary } from '../../../electron/contract/index.ts';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Page } from '../../components/Page.tsx';
import { NotForResearch, RunBadge } from '../../components/feedback/StateBadge.tsx';
import { WhileConnected } from '../../components/WhileConnected.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { modelNotice } from '../../state/computer/modelTexts.ts';
import { goToRun, RUN_TABS, runTabs, type RunTab } from '../../state/navigation.ts';
import { FilesTab } from '../files/FilesTab.tsx';
import { PlotsTab } from '../results/distributions/PlotsTab.tsx';
import { OtherToolsTab } from '../results/OtherToolsTab.tsx';
import { ResultsTab } from '../results/ResultsTab.tsx';
import { SamplesTab } from '../results/SamplesTab.tsx';
import { RunAnswer } from './RunAnswer.tsx';
import { RunBanners } from './RunBanners.tsx';
import { ProgressTab } from './progress/ProgressTab.tsx';
import { RunActions } from './RunActions.tsx';
import { viewRun } from '../../state/results/resultsView.ts';
import classes from './RunScreen.module.css';

const CONTENTS: Readonly<Record<RunTab, ComponentType<{ run: RunSummary }>>> = {
  progress: ProgressTab,
  results: ResultsTab,
  samples: SamplesTab,
  plots: PlotsTab,
  tools: OtherToolsTab,
  files: FilesTab,
};

export function RunScreen({ runId, tab }: { runId: string; tab: RunTab }) {
  const texts = useTexts();
  const { t } = texts;
  useEffect(() => followRun(runId), [runId]);
  // On every tab, since a count under Other tools already chooses what Results shows.
  useEffect(() => viewRun(runId), [runId]);
  const run = useRunSummary(runId);
  useAnswerAtEnd(run, tab);
  const error = useLiveRun((state) => (state.runId === runId ? state.error : null));
  const failedParts = useLiveRun((state) => state.live?.progress.parts.failed ?? 0);
  const tables = useQuery(queries.results.otherTables.queryOptions({ input: { runId } })).data;
  const hasTables = tables !== undefined && tables.length > 0;
  const percent = useLiveRun(({ live }) =>
    live && isAtWork(live.run) && live.progress.fraction !== null
      ? texts.format.progress(live.progress.fraction)
      : null,
  );
  if (!run) {
    return <Page title={t('run.title')}>{error ? <ErrorCard error={error} /> : <Waiting rows={8} />}</Page>;
  }
  const notice = modelNotice(run.plan.model, texts);
  const isDone = run.state.phase === 'done';
  const windowTitle = percent === null ? `${isDone ? '✓ ' : ''}${run.name}` : `${percent} ${run.name}`;
  return (
    <Page
      fill={tab === 'results'}
      title={run.name}
      windowTitle={windowTitle}
      lead={
        <Group component="span" gap="4px 12px" miw={0} fz="sm">
          <span data-live>
            <RunBadge run={run} />
          </span>
          {notice !== null && (
            <span title={notice}>
              <NotForResearch />
            </span>
          )}
          {isDone && (
            <Guarded>
              <RunAnswer run={run} />
            </Guarded>
          )}
        </Group>
      }
      actions={<RunActions run={run} />}
    >
      <WhileConnected>
        <RunBanners run={run} />
      </WhileConnected>
      {error && <ErrorCard error={error} />}
      <RunAnnouncer />
      <Tabs
        value={tab}
        onChange={(value) => goToRun(runId, RUN_TABS.find((known) => known === value) ?? 'progress')}
        keepMounted={false}
        classNames={{ root: classes.tabs ?? '', panel: classes.panel ?? '' }}
      >
        <Tabs.List aria-label={t('run.title')}>
          {runTabs(isDone).map((name) => {
            if (name === 'samples' && run.plan.inputs.length < 2) return null;
            if (name === 'tools' && tab !== 'tools' && !hasTables) return null;
            return (
              <Tabs.Tab key={name} value={name}>
                {name === 'tools' || name === 'files' ? (
                  <>
                    <span className={classes.wide}>{t(`run.tab.${name}`)}</span>
                    <span className={classes.narrow}>{t(`run.shortTab.${name}`)}</span>
                  </>
                ) : (
                  t(name === 'progress' && isDone ? 'run.tab.ran' : `run.tab.${name}`)
                )}
                {name === 'files' && failedParts > 0 && (
                  <Text span ml={6} px={7} bdrs={999} fz="xs" fw={600} bg="var(--bad-soft)" c="var(--bad)">
                    {failedParts}
                    <span className="visually-hidden"> {t('files.failedParts', { count: failedParts })}</span>
                  </Text>
                )}
              </Tabs.Tab>
            );
          })}
        </Tabs.List>
        {RUN_TABS.map((name) => {
          const Content = CONTENTS[name];
          return (
            <Tabs.Panel key={name} value={name}>
              <Guarded>
                <Content run={run} />
              </Guarded>
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Page>
  );
}

/** Who watches a run to its end sees what it found. */
function useAnswerAtEnd(run: RunSummary | null, tab: RunTab): void {
  const atWork = useRef(false);
  const runId = run?.runId;
  const isDone = run?.state.phase === 'done';
  useEffect(() => {
    if (runId !== undefined && isDone && atWork.current && tab === 'progress') goToRun(runId, 'results');
    atWork.current = runId !== undefined && !isDone;
  }, [runId, isDone, tab]);
}

/** A run's summary: from its own snapshots if there are any, else from the list of all runs. */
function useRunSummary(runId: string): RunSummary | null {
  const live = useLiveRun((state) => (state.live?.run.runId === runId ? state.live.run : null));
  const listed = useRuns((state) => state.runs?.find((run) => run.runId === runId) ?? null);
  return live ?? listed;
}

/** Announces each tenth of the progress and each change of state to screen readers; with more than that, they would never fall silent. */
function RunAnnouncer() {
  const { t, format } = useTexts();
  const tenth = useLiveRun((state) => {
    const fraction = state.live?.progress.fraction ?? null;
    return fraction === null ? null : Math.floor(fraction * 10) / 10;
  });
  const status = useLiveRun((state) => (state.live ? runStatus(state.live.run) : null));
  const isFirst = useRef(true);
  useEffect(() => {
    if (status === null) return;
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    announce(
      tenth === null || status !== 'running'
        ? t(`runState.${status}`)
        : t('run.announceProgress', { percent: format.percent(tenth) }),
    );
  }, [tenth, status, t, format]);
  return null;
}
