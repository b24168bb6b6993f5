import { hostname } from 'node:os';
import { z } from 'zod';
import { SHARES_FOLDER } from '../../../contract/folderNames.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { countSchema } from '../../../contract/protocol/common.ts';
import { deviceLiveSchema, type DeviceLive, type RunProgress } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import { readInRun, replaceInRun } from '../../system/runFiles.ts';
import type { RunStore } from '../../store/runStore.ts';
import { parseShare, partsByShare, type SharePart } from '../../store/shares.ts';
import { shareNames } from './mergeShares.ts';

const STATUS = 'status.json';
const EVERY_MS = 3_000;
const MOST_BYTES = 1 << 20;
const READ_AT_ONCE = 32;
/** A share that has written no status for this long is not being computed, whatever its last status says. */
const SILENT_MS = 60_000;

const statusSchema = z.object({
  version: z.literal(1),
  node: z.string().max(300),
  time: z.number(),
  phase: z.string().max(30),
  /** Why it is paused, if it is. */
  error: z.string().nullable(),
  parts: z.object({ total: countSchema, done: countSchema }),
  framesLeft: countSchema,
  residuesLeft: countSchema,
  devices: z.array(deviceLiveSchema),
});
/** A share's progress, for everybody who follows the run, on any computer. */
export type ShareStatus = z.infer<typeof statusSchema>;

/** A share that is being computed on this computer. */
interface ComputedShare {
  readonly folder: string;
  readonly record: { readonly state: RunState };
  progress: () => RunProgress;
  deviceStates: () => DeviceLive[];
}

/**
 * Keeps the status file of a running share up to date; call the returned function once the share is closed.
 */
export function keepShareStatus(share: ComputedShare): () => void {
  write(share);
  const timer = setInterval(() => write(share), EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    write(share);
  };
}

function write(share: ComputedShare): void {
  const { parts, frames, residues } = share.progress();
  const { state } = share.record;
  const status: ShareStatus = {
    version: 1,
    node: hostname(),
    time: Date.now(),
    phase: state.phase,
    error: state.phase === 'paused' ? (state.error?.cause ?? null) : null,
    parts: { total: parts.total, done: parts.done + parts.failed },
    framesLeft: Math.max(0, frames.total - frames.done),
    residuesLeft: Math.max(0, residues.total - residues.done),
    devices: share.deviceStates(),
  };
  try {
    replaceInRun(share.folder, STATUS, Buffer.from(JSON.stringify(status)));
  } catch {
    // Nothing depends on the status, and the share's folder may already have been merged and deleted.
  }
}

/** The statuses of shares, by folder such as `3-of-8`; without unreadable ones. */
export async function readShareStatuses(
  runFolder: string,
  names: readonly string[],
): Promise<Map<string, ShareStatus>> {
  const found = new Map<string, ShareStatus>();
  for (let first = 0; first < names.length; first += READ_AT_ONCE)
    await Promise.all(
      names.slice(first, first + READ_AT_ONCE).map(async (name) => {
        const file = `${SHARES_FOLDER}/${name}/${STATUS}`;
        const bytes = await readInRun(runFolder, file, MOST_BYTES).catch(() => null);
        const status = parseJson(statusSchema, bytes?.toString('utf8'));
        if (status) found.set(name, status);
      }),
    );
  return found;
}

export const isSilent = ({ time }: ShareStatus): boolean => Math.abs(Date.now() - time) > SILENT_MS;

/** Work that shares have done and that is not merged into the run's database yet. */
export interface WorkElsewhere {
  readonly parts: number;
  readonly frames: number;
  readonly residues: number;
}

/** How much of their parts that still wait in the run's database shares have computed, by their statuses. */
export function workElsewhere(
  shares: Iterable<
    readonly [ShareStatus | null, Iterable<Pick<SharePart, 'frameBegin' | 'frameEnd' | 'residues'>>]
  >,
): WorkElsewhere {
  const sum = { parts: 0, frames: 0, residues: 0 };
  for (const [status, waiting] of shares) {
    if (status === null) continue;
    const own = {
      parts: status.parts.done - status.parts.total,
      frames: -status.framesLeft,
      residues: -status.residuesLeft,
    };
    for (const { frameBegin, frameEnd, residues } of waiting) {
      own.parts += 1;
      own.frames += frameEnd - frameBegin;
      own.residues += residues;
    }
    for (const count of ['parts', 'frames', 'residues'] as const) sum[count] += Math.max(0, own[count]);
  }
  return sum;
}

export interface ShareSeen {
  /** For example `3/8`. */
  share: string;
  status: ShareStatus;
  computing: boolean;
}

/** A summary of a run's shares, whoever started them. */
export interface SharesBegun extends WorkElsewhere {
  shares: ShareSeen[];
  residuesPerSecond: number | null;
  /** Devices of the shares that are being computed. */
  devices: DeviceLive[];
}

/** The shares in the folder of a run; null if there are none. */
export async function sharesBegun(
  store: Pick<RunStore, 'folder' | 'shareParts'>,
): Promise<SharesBegun | null> {
  const statuses = await readShareStatuses(store.folder, shareNames(store.folder));
  if (statuses.size === 0) return null;
  const shares = [...statuses].map(([name, status]): ShareSeen => {
    const isAtRest = ['done', 'paused', 'failed', 'cancelled'].includes(status.phase);
    return { share: name.replace('-of-', '/'), status, computing: !isSilent(status) && !isAtRest };
  });
  const waiting = await store.shareParts();
  const divided = new Map<number, Map<number, SharePart[]>>();
  const works = shares.map(({ share, status }) => {
    const { index = 0, of = 1 } = parseShare(share) ?? {};
    if (!divided.has(of)) divided.set(of, partsByShare(waiting, of));
    return [status, divided.get(of)?.get(index) ?? []] as const;
  });
  const devices = shares.flatMap(({ status, computing }) => (computing ? status.devices : []));
  const speeds = devices.map((device) => device.residuesPerSecond).filter((speed) => speed !== null);
  const residuesPerSecond = speeds.length === 0 ? null : speeds.reduce((sum, speed) => sum + speed, 0);
  return { shares, ...workElsewhere(works), residuesPerSecond, devices };
}
