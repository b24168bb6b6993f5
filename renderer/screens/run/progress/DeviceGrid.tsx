import { useCallback } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { DeviceCard } from '../../../components/DeviceCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { sequencesPerMinute, useLiveRun, type SpeedSample } from '../../../state/runs/liveRun.ts';
import { includeDevice } from '../../../state/runs/runOrders.ts';
import { sayError } from '../../../components/feedback/errorToast.tsx';
import classes from './DeviceGrid.module.css';

const NO_SPEEDS: readonly SpeedSample[] = [];

export function DeviceGrid({ runId }: { runId: string }) {
  const { t } = useTexts();
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.id) ?? []));
  const atWork = useLiveRun((state) => state.live !== null && isAtWork(state.live.run));
  const include = useCallback(
    (device: string, included: boolean) => {
      includeDevice(runId, device, included).catch(sayError);
    },
    [runId],
  );
  if (ids.length === 0) return null;
  return (
    <section className={classes.grid} aria-labelledby="devices-title">
      <h2 id="devices-title" className="visually-hidden">
        {t('run.devices')}
      </h2>
      {ids.map((id) => (
        <LiveDeviceCard key={id} id={id} onInclude={atWork ? include : undefined} />
      ))}
    </section>
  );
}

interface LiveDeviceCardProps {
  id: string;
  onInclude: ((device: string, included: boolean) => void) | undefined;
}

function LiveDeviceCard({ id, onInclude }: LiveDeviceCardProps) {
  const device = useLiveRun((state) => state.live?.devices.find((candidate) => candidate.id === id));
  const speeds = useLiveRun((state) => state.speeds[id] ?? NO_SPEEDS);
  const perMinute = useLiveRun((state) =>
    sequencesPerMinute(device?.residuesPerSecond ?? null, state.live?.progress),
  );
  const finished = useLiveRun((state) => state.live?.run.state.phase === 'done');
  return device ? (
    <DeviceCard
      device={device}
      speeds={speeds}
      sequencesPerMinute={perMinute}
      onInclude={onInclude}
      finished={finished}
    />
  ) : null;
}
