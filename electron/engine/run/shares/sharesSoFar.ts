import type { DeviceLive } from '../../../contract/rpc/runs.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { parseShare, partsByShare, type SharePart } from '../../store/shares.ts';
import { shareNames } from './mergeShares.ts';
import {
  readShareStatuses,
  sumOfWork,
  workElsewhere,
  type ShareStatus,
  type WorkElsewhere,
} from './shareStatus.ts';

/** A share that has written no status for this long is not being computed, whatever its last status says. */
const SILENT_MS = 60_000;

export interface ShareSeen {
  /** For example `3/8`. */
  share: string;
  status: ShareStatus;
  computing: boolean;
}

/** A summary of a run's shares, whoever started them. */
export interface SharesSoFar extends WorkElsewhere {
  shares: ShareSeen[];
  residuesPerSecond: number | null;
  /** Devices of the shares that are being computed. */
  devices: DeviceLive[];
}

/** The shares in the folder of a run; null if there are none. */
export async function sharesSoFar(
  store: Pick<RunStore, 'folder' | 'shareParts'>,
): Promise<SharesSoFar | null> {
  const statuses = await readShareStatuses(store.folder, shareNames(store.folder));
  if (statuses.size === 0) return null;
  const shares = [...statuses].map(([name, status]): ShareSeen => {
    const isSilent = Math.abs(Date.now() - status.time) > SILENT_MS;
    return { share: name.replace('-of-', '/'), status, computing: !isSilent && isActive(status.phase) };
  });
  const waiting = await store.shareParts();
  const divided = new Map<number, Map<number, SharePart[]>>();
  const works = shares.map(({ share, status }) => {
    const { index = 0, of = 1 } = parseShare(share) ?? {};
    if (!divided.has(of)) divided.set(of, partsByShare(waiting, of));
    return workElsewhere(divided.get(of)?.get(index) ?? [], status);
  });
  const devices = shares.flatMap(({ status, computing }) => (computing ? status.devices : []));
  const speeds = devices.map((device) => device.residuesPerSecond).filter((speed) => speed !== null);
  const residuesPerSecond = speeds.length === 0 ? null : speeds.reduce((sum, speed) => sum + speed, 0);
  return { shares, ...sumOfWork(works), residuesPerSecond, devices };
}

const isActive = (phase: string): boolean => !['done', 'paused', 'failed', 'cancelled'].includes(phase);
