import { memo } from 'react';
import type { SpeedSample } from '../../state/runs/liveRun.ts';
import { SPARKLINE, sparklinePath } from './sparklinePath.ts';

const { width: WIDTH, height: HEIGHT } = SPARKLINE;

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
