import type { DeviceLive, RunProgress } from '../../contract/rpc/runs.ts';
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
  const name = device.index === null ? device.id : `GPU ${device.index} ${device.name}`;
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
    default:
      return worker.state;
  }
}
