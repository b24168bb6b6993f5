import { Stack } from '@mantine/core';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useEngineTexts } from '../../../state/engineTexts.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { Guarded } from '../../../components/feedback/Guarded.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { Waiting } from '../../../components/feedback/Waiting.tsx';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { NormsBanner } from '../RunBanners.tsx';
import { ExpectedAnswer } from './ExpectedAnswer.tsx';
import { DevicesTable } from './DevicesTable.tsx';
import { EventList } from './EventList.tsx';
import { OverallProgress } from './OverallProgress.tsx';
import { PlanFold } from './PlanFold.tsx';
import { ThroughputChart } from './ThroughputChart.tsx';

/** The dashboard of a run. */
export function ProgressTab({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const hasLive = useLiveRun((state) => state.live !== null);
  const error = useLiveRun((state) => state.error);
  const cpuOnly = useLiveRun(
    (state) =>
      state.live !== null &&
      state.live.devices.length > 0 &&
      state.live.devices.every((device) => device.index === null),
  );
  if (!hasLive) {
    if (error) return null;
    // Files, model and devices are checked before the first figures arrive.
    return run.state.phase === 'created' && run.queuePosition === null ? (
      <Card title={t('newRun.preparing')}>
        <ProgressBar label={t('newRun.preparing')} fraction={null} />
      </Card>
    ) : (
      <Waiting rows={8} />
    );
  }
  return (
    <>
      {cpuOnly && run.state.phase === 'running' && run.plan.model.notice === null && (
        <Banner tone="info" title={t('run.cpuTitle')}>
          {t('run.cpuText')}
        </Banner>
      )}
      <Guarded>
        {isAtWork(run) && <ClusterBanner />}
        <NormsBanner />
      </Guarded>
      <Stack gap={16} data-live>
        <Guarded>
          <OverallProgress />
        </Guarded>
        {run.state.phase !== 'created' && (
          <>
            <Guarded>
              <DevicesTable run={run} />
            </Guarded>
            <Guarded>{run.state.phase !== 'done' && <ExpectedAnswer run={run} />}</Guarded>
            <div className="columns">
              <Guarded>
                <ThroughputChart run={run} />
                <EventList runId={run.runId} />
              </Guarded>
            </div>
          </>
        )}
      </Stack>
      <Guarded>
        <PlanFold run={run} />
      </Guarded>
    </>
  );
}

/** Tells the user that a run waits for its cluster, and why. */
function ClusterBanner() {
  const { t } = useTexts();
  const own = useEngineTexts();
  const cluster = useLiveRun((state) => state.live?.cluster ?? null);
  if (!cluster) return null;
  const kind = t(`where.${cluster.kind}`);
  if (cluster.state === 'connecting') return <Banner tone="info" title={t('cluster.connecting', { kind })} />;
  if (cluster.state === 'ended') return null;
  if (cluster.waiting === 0) return null;
  return (
    <Banner tone="info" title={t('cluster.waiting', { kind, count: cluster.waiting })}>
      {cluster.reason && own(cluster.reason)}
    </Banner>
  );
}
