import { SPEED_WINDOW_MS, type SpeedSample } from '../../state/runs/liveRun.ts';

/** Samples come every two to ten seconds. */
const PAUSE_MS = 35_000;

export const SPARKLINE = { width: 240, height: 36 } as const;

/** Outline of the speed over the last minutes, newest at the right edge; null while there is too little of it. */
export function sparklinePath(samples: readonly SpeedSample[]): string | null {
  const last = samples.at(-1);
  if (!last || samples.length < 2) return null;
  const top = Math.max(1e-9, ...samples.map((sample) => sample.residuesPerSecond));
  const points = samples.map((sample, index) => {
    const x = SPARKLINE.width * (1 - (last.time - sample.time) / SPEED_WINDOW_MS);
    const y = SPARKLINE.height - 2 - (SPARKLINE.height - 6) * (sample.residuesPerSecond / top);
    const before = samples[index - 1];
    // Through a pause no line is drawn.
    const isJoined = before !== undefined && sample.time - before.time <= PAUSE_MS;
    return `${isJoined ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return points.join('');
}
