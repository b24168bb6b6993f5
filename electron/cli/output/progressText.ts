import { shareOfDevice } from '../../contract/cluster.ts';
import {
  measureTexts,
  sequencesPerMinute,
  shareOfRun,
  type LiveFigures,
} from '../../contract/deviceFigures.ts';
import type { ClusterLive, DeviceLive, RunProgress } from '../../contract/rpc/runs.ts';
import {
  formatCount,
  formatPercent,
  formatDuration,
  formatDurationRange,
  formatRate,
  TERMINAL_FIGURES,
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
  const speed = speedText(progress.residuesPerSecond, progress);
  if (speed !== null) parts.push(speed);
  parts.push(`elapsed ${formatDuration(progress.elapsedSeconds)}`);
  const { remainingSeconds: left } = progress;
  if (left) parts.push(`left ${formatDurationRange(left.low, left.high)}`);
  return parts.join('  ');
}

function speedText(residuesPerSecond: number | null, progress: LiveFigures['progress']): string | null {
  const speed = sequencesPerMinute(residuesPerSecond, progress);
  return speed === null ? null : `${formatRate(speed)} sequences/min`;
}

export function deviceLines(devices: readonly DeviceLive[], progress: LiveFigures['progress']): string[] {
  const live = { devices, progress };
  return devices.map((device) => columns(device, live));
}

function columns(device: DeviceLive, live: LiveFigures): string {
  const { load, memory, temperature, power } = measureTexts(device, TERMINAL_FIGURES);
  const share = shareOfRun(device, live);
  return [
    deviceName(device).slice(0, 26).padEnd(26),
    bar(share ?? 0, 8),
    (share === null ? '? %' : formatPercent(share)).padStart(5),
    `${formatCount(device.partsDone)} parts`.padStart(11),
    (memory ?? '').padStart(15),
    ...[load, temperature].map((text) => (text ?? '').padStart(6)),
    (power ?? '').padStart(8),
    (speedText(device.residuesPerSecond, live.progress) ?? '').padStart(20),
    ` ${workerWords(device.worker)}`,
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
      return `switched off: ${worker.error.title}`;
    case 'excluded':
      return 'taken out';
    case 'idle':
      return 'waiting';
    default:
      return worker.state;
  }
}
