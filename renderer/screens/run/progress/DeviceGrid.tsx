import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { DeviceCard } from '../../../components/DeviceCard.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useNumberedDevices } from '../../../state/runs/deviceLabels.ts';
import { type SpeedSample, sequencesPerMinute, useLiveRun } from '../../../state/runs/liveRun.ts';
import { includeDevice } from '../../../state/runs/runOrders.ts';
import { sayError } from '../../../state/say.ts';
import classes from './DeviceGrid.module.css';

const NO_SPEEDS: readonly SpeedSample[] = [];
/** Cards beyond this many are shown node by node, where somebody asks for them. */
const MOST_CARDS = 24;

type Include = (device: string, included: boolean) => void;

export function DeviceGrid({ runId }: { runId: string }) {
  const { t } = useTexts();
  const devices = useNumberedDevices();
  const atWork = useLiveRun((state) => state.live !== null && isAtWork(state.live.run));
  const include = useCallback(
    (device: string, included: boolean) => {
      includeDevice(runId, device, included).catch(sayError);
    },
    [runId],
  );
  const nodes = useMemo(
    () =>
      [...Map.groupBy(devices, ({ place }) => place?.node ?? null)].map(([node, there]) => ({
        node,
        ids: there.map(({ id }) => id),
      })),
    [devices],
  );
  if (devices.length === 0) return null;
  const onInclude = atWork ? include : undefined;
  return (
    <Stack component="section" gap={12} aria-labelledby="devices-title">
      <h2 id="devices-title" className="visually-hidden">
        {t('run.devices')}
      </h2>
      {nodes.map(({ node, ids }) =>
        node === null ? (
          <Cards key="" ids={ids} onInclude={onInclude} />
        ) : (
          <Node
            key={node}
            name={node}
            ids={ids}
            openAtFirst={devices.length <= MOST_CARDS}
            // The task that computes a share decides on its devices.
            onInclude={undefined}
          />
        ),
      )}
    </Stack>
  );
}

interface CardsProps {
  ids: readonly string[];
  onInclude: Include | undefined;
}

function Cards({ ids, onInclude }: CardsProps) {
  return (
    <SimpleGrid minColWidth="min(284px, 100%)" spacing={12}>
      {ids.map((id) => (
        <LiveDeviceCard key={id} id={id} onInclude={onInclude} />
      ))}
    </SimpleGrid>
  );
}

/** A computer of a cluster, with its devices. */
function Node({ name, openAtFirst, ...cards }: CardsProps & { name: string; openAtFirst: boolean }) {
  const { t, format } = useTexts();
  const [opened, setOpened] = useState(openAtFirst);
  const ids = useMemo(() => new Set(cards.ids), [cards.ids]);
  const [computing, residuesPerSecond] = useLiveRun(
    useShallow((state) => {
      const there = state.live?.devices.filter(({ id }) => ids.has(id)) ?? [];
      const working = there.filter(({ worker }) => worker.state === 'working').length;
      const speed = there.reduce((sum, device) => sum + (device.residuesPerSecond ?? 0), 0);
      return [working, Math.round(speed)] as const;
    }),
  );
  const sequences = useLiveRun((state) => sequencesPerMinute(residuesPerSecond, state.live?.progress));
  return (
    <details className={classes.node} open={opened} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <Text component="b" span fw={620} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text span ml={10} c="dimmed">
          {t('node.devices', { count: ids.size, computing })}
          {sequences !== null && computing > 0 && (
            <> · {t('node.speed', { speed: format.rate(sequences) })}</>
          )}
        </Text>
      </summary>
      {opened && <Cards {...cards} />}
    </details>
  );
}

interface LiveDeviceCardProps {
  id: string;
  onInclude: Include | undefined;
}

function LiveDeviceCard({ id, onInclude }: LiveDeviceCardProps) {
  const device = useLiveRun((state) => state.live?.devices.find((candidate) => candidate.id === id));
  const speeds = useLiveRun((state) => state.speeds[id] ?? NO_SPEEDS);
  const perMinute = useLiveRun((state) =>
    sequencesPerMinute(device?.residuesPerSecond ?? null, state.live?.progress),
  );
  // Three digits do: the ratio creeps while files are being read, and the curves need no new drawing for that.
  const perResidue = useLiveRun((state) =>
    Number((sequencesPerMinute(1, state.live?.progress) ?? 0).toPrecision(3)),
  );
  const finished = useLiveRun((state) => state.live?.run.state.phase === 'done');
  return device ? (
    <DeviceCard
      device={device}
      speeds={speeds}
      sequencesPerMinute={perMinute}
      perResidue={perResidue}
      onInclude={onInclude}
      finished={finished}
    />
  ) : null;
}
