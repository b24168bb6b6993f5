import { useCallback, useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { shareOfDevice, type DeviceLive } from '../../../electron/contract/index.ts';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { useLiveRun } from './liveRun.ts';

export type DeviceNumber = Pick<DeviceLive, 'id' | 'index' | 'place'>;

/** The devices of the run on screen; the same list until one is added or removed. */
export function useNumberedDevices(): readonly DeviceNumber[] {
  // Compares flat lists by their members: each snapshot brings new objects, but seldom other devices.
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.id) ?? []));
  const indices = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.index) ?? []));
  const nodes = useLiveRun(
    useShallow((state) => state.live?.devices.map(({ place }) => place?.node ?? null) ?? []),
  );
  const numbers = useLiveRun(
    useShallow((state) => state.live?.devices.map(({ place }) => place?.number ?? 0) ?? []),
  );
  return useMemo(
    () =>
      ids.map((id, at) => {
        const node = nodes[at] ?? null;
        const place = node === null ? null : { node, number: numbers[at] ?? 0 };
        return { id, index: indices[at] ?? null, place };
      }),
    [ids, indices, nodes, numbers],
  );
}

/** Looks up these devices by id. */
export function useKnownDevice(): (id: string) => DeviceNumber | null {
  const devices = useNumberedDevices();
  return useCallback((id) => devices.find((device) => device.id === id) ?? null, [devices]);
}

/** A device's name on screen, from its id; an id that the run does not know is shown as it is. */
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

/** Whether the user excluded the device, or it was switched off after failures. */
export const isLeftOut = ({ worker }: Pick<DeviceLive, 'worker'>): boolean =>
  worker.state === 'excluded' || worker.state === 'switched_off';

/** GPU 0, or Processor 1; with its node if it belongs to a cluster. */
export function deviceTitle(device: DeviceNumber, t: Texts['t']): string {
  const title = titleThere(device, t);
  return device.place === null ? title : t('device.onNode', { device: title, node: device.place.node });
}

/** CPU workers of this computer carry their number, from 0, in their id (cpu:0). */
function titleThere({ id, index, place }: DeviceNumber, t: Texts['t']): string {
  if (index !== null) return t('device.gpu', { index });
  const worker = place === null ? /^cpu:(\d+)$/.exec(id)?.[1] : place.number;
  if (worker === undefined) return id;
  const processor = t('device.processor', { number: Number(worker) + 1 });
  const share = shareOfDevice(id);
  return share === null ? processor : t('device.ofShare', { device: processor, share });
}
