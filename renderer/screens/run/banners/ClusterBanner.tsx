import { Banner } from '../../../components/feedback/Banner.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';

/** A run that waits for its cluster says so, and why. */
export function ClusterBanner() {
  const { t } = useTexts();
  const cluster = useLiveRun((state) => state.live?.cluster ?? null);
  const computing = useLiveRun(
    (state) => state.live?.devices.filter(({ worker }) => worker.state !== 'left').length ?? 0,
  );
  if (!cluster) return null;
  const kind = t(`where.${cluster.kind}`);
  if (cluster.state === 'connecting') return <Banner tone="info" title={t('cluster.connecting', { kind })} />;
  if (cluster.state === 'restarting') return <Banner tone="lost" title={t('cluster.restarting', { kind })} />;
  if (cluster.state === 'ended') return null;
  if (cluster.waiting === 0)
    return computing === 0 ? <Banner tone="info" title={t('cluster.noDevices', { kind })} /> : null;
  return (
    <Banner tone="info" title={t('cluster.waiting', { kind, count: cluster.waiting })}>
      {cluster.reason}
    </Banner>
  );
}
