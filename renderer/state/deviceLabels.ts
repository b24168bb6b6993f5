import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { DeviceLive } from '../../electron/contract/index.ts';
import { useTexts, type Texts } from '../i18n/index.ts';
import { useLiveRun } from './liveRun.ts';

/** How a device is called on screen, from its id; an id that the run does not know is shown as it is. */
export function useDeviceLabels(): (id: string | null) => string {
  const { t } = useTexts();
  // Two flat lists, compared by their members: snapshots bring new objects, but seldom other devices.
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.id) ?? []));
  const indices = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.index) ?? []));
  return useMemo(() => {
    const label = (position: number) => {
      const id = ids[position];
      return id === undefined ? undefined : deviceTitle({ id, index: indices[position] ?? null }, t);
    };
    return (id) => (id === null ? '–' : (label(ids.indexOf(id)) ?? id));
  }, [ids, indices, t]);
}

/** GPU 0, or Processor 1: CPU workers carry their number, from 0, in their id (cpu:0). */
export function deviceTitle(device: Pick<DeviceLive, 'id' | 'index'>, t: Texts['t']): string {
  if (device.index !== null) return t('device.gpu', { index: device.index });
  const worker = /^cpu:(\d+)$/.exec(device.id)?.[1];
  return worker === undefined ? device.id : t('device.processor', { number: Number(worker) + 1 });
}
