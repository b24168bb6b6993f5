import { memo } from 'react';
import { SPEED_WINDOW_MS, type SpeedSample } from '../../state/runs/liveRun.ts';

/** Samples come every two to ten seconds. */
const PAUSE_MS = 35_000;

const WIDTH = 240;
const HEIGHT = 36;

/** Decoration beside the number that says the same: hidden from screen readers. */
export const Sparkline = memo(function Sparkline({ samples }: { samples: readonly SpeedSample[] }) {
  const path = sparklinePath(samples);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width="100%"
      height={HEIGHT}
      preserveAspectRatio="none"
      aria-hidden
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} stroke="var(--line)" strokeWidth="1" />
      {path && (
        <path
          d={path}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="1.5"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
});

/** Outline of the speed over the last minutes, newest at the right edge; null while there is too little of it. */
export function sparklinePath(samples: readonly SpeedSample[]): string | null {
  const last = samples.at(-1);
  if (!last || samples.length < 2) return null;
  const top = Math.max(1e-9, ...samples.map((sample) => sample.residuesPerSecond));
  const points = samples.map((sample, index) => {
    const x = WIDTH * (1 - (last.time - sample.time) / SPEED_WINDOW_MS);
    const y = HEIGHT - 2 - (HEIGHT - 6) * (sample.residuesPerSecond / top);
    const before = samples[index - 1];
    // Through a pause no line is drawn.
    const isJoined = before !== undefined && sample.time - before.time <= PAUSE_MS;
    return `${isJoined ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return points.join('');
}
