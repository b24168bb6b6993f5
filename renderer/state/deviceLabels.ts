import { useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { useTexts } from '../i18n/index.ts';
import { useLiveRun } from './liveRun.ts';

/** How a device is called on screen, from its id; an id that the run does not know is shown as it is. */
export function useDeviceLabels(): (id: string | null) => string {
  const { t } = useTexts();
  // Three flat lists, compared by their members: snapshots bring new objects, but seldom other names.
  const ids = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.id) ?? []));
  const names = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.name) ?? []));
  const indices = useLiveRun(useShallow((state) => state.live?.devices.map((device) => device.index) ?? []));
  return useMemo(() => {
    const label = (position: number) => {
      const index = indices[position];
      return typeof index === 'number' ? t('device.gpu', { index }) : names[position];
    };
    return (id) => (id === null ? '–' : (label(ids.indexOf(id)) ?? id));
  }, [ids, names, indices, t]);
}
