import { useQuery } from '@tanstack/react-query';
import type { UpdateStatus } from '../../../electron/contract/index.ts';
import { queries } from '../connection.ts';
import { useSettings } from '../settings.ts';

/** What the desktop app knows of a newer version of itself; undefined until it has answered, and in a browser. */
export function useUpdates(): UpdateStatus | undefined {
  const isDesktop = useSettings((state) => state.info?.shell === 'electron');
  return useQuery(queries.shell.updates.experimental_liveOptions({ enabled: isDesktop })).data;
}
