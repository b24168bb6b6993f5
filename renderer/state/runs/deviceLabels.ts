import { useCallback } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { DeviceLive } from '../../../electron/contract/index.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { useLiveRun } from './liveRunStore.ts';

type DeviceNumber = Pick<DeviceLive, 'id' | 'index'>;

/** The devices of the run that is looked at, by their ids. */
export function useKnownDevice(): (id: string) => DeviceNumber | null {
  // Two flat lists, compared by their members: snapshots bring new objects, but seldom other devices.
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.id) ?? []));
  const indices = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.index) ?? []));
  return useCallback(
    (id) => (ids.includes(id) ? { id, index: indices[ids.indexOf(id)] ?? null } : null),
    [ids, indices],
  );
}

/** How a device is called on screen, from its id; an id that the run does not know is shown as it is. */
export function useDeviceLabels(): (id: string | null) => string {
  const { t } = useTexts();
  const known = useKnownDevice();
  return useCallback(
    (id) => {
      if (id === null) return '–';
      const device = known(id);
      return device ? deviceTitle(device, t) : id;
    },
    [known, t],
  );
}

/** By the user or for what it failed at. */
export const isLeftOut = ({ worker }: Pick<DeviceLive, 'worker'>): boolean =>
  worker.state === 'excluded' || worker.state === 'switched_off';

/** GPU 0, or Processor 1: CPU workers carry their number, from 0, in their id (cpu:0). */
export function deviceTitle(device: DeviceNumber, t: Texts['t']): string {
  if (device.index !== null) return t('device.gpu', { index: device.index });
  const worker = /^cpu:(\d+)$/.exec(device.id)?.[1];
  return worker === undefined ? device.id : t('device.processor', { number: Number(worker) + 1 });
}
