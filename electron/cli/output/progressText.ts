import { shareOfDevice } from '../../contract/cluster.ts';
import type { ClusterLive, DeviceLive, RunProgress } from '../../contract/rpc/runs.ts';
import {
  formatBytes,
  formatCount,
  formatPercent,
  formatEstimateRange,
  formatDuration,
} from '../../engine/index.ts';

const BAR_WIDTH = 24;
/** More lines than this don't fit on a terminal; a cluster with more devices is shown by node. */
const MOST_DEVICE_LINES = 8;

export function bar(fraction: number, width = BAR_WIDTH): string {
  const filled = Math.round(Math.max(0, Math.min(1, fraction)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** The total in one line, for terminals and for logs alike. */
export function totalLine(progress: RunProgress): string {
  const percent = progress.fraction === null ? '  ? %' : formatPercent(progress.fraction, 1);
  const parts = [
    percent,
    `parts ${formatCount(progress.parts.done)}/${formatCount(progress.parts.total)}${progress.prepare.finished ? '' : '+'}`,
    `frames ${formatCount(progress.frames.done)}/${formatCount(progress.frames.total)}`,
  ];
  if (progress.parts.failed > 0) parts.push(`${formatCount(progress.parts.failed)} failed`);
  if (progress.residuesPerSecond !== null)
    parts.push(`${formatCount(progress.residuesPerSecond)} residues/s`);
  parts.push(`elapsed ${formatDuration(progress.elapsedSeconds)}`);
  if (progress.remainingSeconds) parts.push(`left ${formatEstimateRange(progress.remainingSeconds)}`);
  return parts.join('  ');
}

export function deviceLines(devices: readonly DeviceLive[]): string[] {
  if (devices.length <= MOST_DEVICE_LINES) return devices.map(deviceLine);
  return [...Map.groupBy(devices, ({ place }) => place?.node)].flatMap(([node, there]) =>
    node === undefined ? there.map(deviceLine) : [nodeLine(node, there)],
  );
}

function deviceLine(device: DeviceLive): string {
  const { worker } = device;
  const doing =
    worker.state === 'working'
      ? `${bar(device.partFraction ?? 0, 12)} part ${worker.part}`
      : workerWords(worker);
  return columns(deviceName(device), doing, device);
}

function nodeLine(node: string, devices: readonly DeviceLive[]): string {
  const states = Map.groupBy(devices, ({ worker }) => workerWords(worker));
  const doing = [...states].map(([words, { length }]) => `${length} ${words}`).join(', ');
  const measured = devices.filter(({ utilizationPercent }) => utilizationPercent !== null).length;
  const utilization = sumOf(devices, 'utilizationPercent');
  return columns(node, doing, {
    partsDone: sumOf(devices, 'partsDone') ?? 0,
    memoryUsedBytes: sumOf(devices, 'memoryUsedBytes'),
    utilizationPercent: utilization === null ? null : utilization / measured,
    residuesPerSecond: sumOf(devices, 'residuesPerSecond'),
  });
}

type Figures = Pick<DeviceLive, 'partsDone' | 'memoryUsedBytes' | 'utilizationPercent' | 'residuesPerSecond'>;

/** Null if none of them has that figure. */
function sumOf(devices: readonly Figures[], figure: keyof Figures): number | null {
  const known = devices.map((device) => device[figure]).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function columns(name: string, doing: string, figures: Figures): string {
  const { partsDone, memoryUsedBytes, utilizationPercent, residuesPerSecond } = figures;
  return [
    name.slice(0, 26).padEnd(26),
    doing.padEnd(27),
    `${formatCount(partsDone)} done`.padStart(10),
    (memoryUsedBytes === null ? '' : formatBytes(memoryUsedBytes)).padStart(9),
    ...(utilizationPercent === null ? [] : [formatPercent(utilizationPercent / 100).padStart(6)]),
    ...(residuesPerSecond === null ? [] : [`${formatCount(residuesPerSecond)} residues/s`.padStart(20)]),
  ].join(' ');
}

function deviceName({ id, index, name, place }: DeviceLive): string {
  if (place) {
    const share = shareOfDevice(id);
    const task = share === null ? '' : ` share ${share}`;
    return `${place.node}${task} ${index === null ? `CPU ${place.number}` : `GPU ${index}`} ${name}`;
  }
  return index === null ? id : `GPU ${index} ${name}`;
}

/** How many shares of a run are not computing yet, and why. */
export function clusterLine(cluster: ClusterLive): string | null {
  const scheduler = cluster.kind === 'ray' ? 'Ray' : 'SLURM';
  if (cluster.state === 'connecting') return `Waiting for ${scheduler} to answer`;
  if (cluster.state === 'ended') return null;
  if (cluster.waiting === 0) return null;
  const shares = cluster.waiting === 1 ? 'one share' : `${formatCount(cluster.waiting)} shares`;
  const why = cluster.reason ? `: ${cluster.reason.text}` : '';
  return `${scheduler} has not started ${shares}${why}`;
}

function workerWords(worker: DeviceLive['worker']): string {
  switch (worker.state) {
    case 'starting':
    case 'loading':
      return 'loading the model';
    case 'restarting':
      return `starting again (${worker.attempt})`;
    case 'switched_off':
      return 'switched off';
    case 'excluded':
      return 'taken out';
    default:
      return worker.state;
  }
}
