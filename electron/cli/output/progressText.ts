import type { ClusterLive, DeviceLive, RunProgress } from '../../contract/rpc/runs.ts';
import {
  formatBytes,
  formatCount,
  formatPercent,
  formatEstimateRange,
  formatDuration,
} from '../../engine/index.ts';

const BAR_WIDTH = 24;

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

export function deviceLine(device: DeviceLive): string {
  const name = deviceName(device);
  const cells = [name.slice(0, 26).padEnd(26)];
  if (device.worker.state === 'working') {
    cells.push(bar(device.partFraction ?? 0, 12), `part ${device.worker.part}`.padEnd(14));
  } else {
    cells.push(workerWords(device).padEnd(27));
  }
  cells.push(`${formatCount(device.partsDone)} done`.padStart(10));
  cells.push(
    device.memoryUsedBytes === null ? ''.padStart(9) : formatBytes(device.memoryUsedBytes).padStart(9),
  );
  if (device.utilizationPercent !== null)
    cells.push(formatPercent(device.utilizationPercent / 100).padStart(6));
  if (device.residuesPerSecond !== null) {
    cells.push(`${formatCount(device.residuesPerSecond)} residues/s`.padStart(20));
  }
  return cells.join(' ');
}

function deviceName({ id, index, name, place }: DeviceLive): string {
  if (place) return `${place.node} ${index === null ? `CPU ${place.number}` : `GPU ${index}`} ${name}`;
  return index === null ? id : `GPU ${index} ${name}`;
}

/** Of a cluster's devices: which are still expected, and why they are not there. */
export function clusterLine(cluster: ClusterLive): string | null {
  const scheduler = cluster.kind === 'ray' ? 'Ray' : 'SLURM';
  if (cluster.state === 'connecting') return `Waiting for ${scheduler} to answer`;
  if (cluster.state === 'restarting') return `Connecting with ${scheduler} again`;
  if (cluster.state === 'ended' || cluster.waiting === 0) return null;
  return `Waiting for ${formatCount(cluster.waiting)} devices of ${scheduler}: ${cluster.reason ?? 'no reason given'}`;
}

function workerWords({ worker }: DeviceLive): string {
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
    case 'left':
      return 'gone';
    default:
      return worker.state;
  }
}
