import classes from './SmallMultiple.module.css';

interface MeasuredPoint {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly value: number | null;
}

interface SmallMultipleProps {
  label: string;
  /** The figure that the curve comes to; what is read out in its place. */
  text: string;
  points: readonly MeasuredPoint[];
  /** Seconds since the epoch, and the top of the scale: shared by all curves that stand beside each other. */
  begin: number;
  end: number;
  top: number;
}

/** A small curve among others of the same scale. */
export function SmallMultiple({ label, text, points, begin, end, top }: SmallMultipleProps) {
  return (
    <div>
      <div className={classes.text}>
        <span>{label}</span>
        <b>{text}</b>
      </div>
      <svg viewBox="0 0 160 36" width="100%" height="36" preserveAspectRatio="none" aria-hidden>
        <line x1="0" x2="160" y1="35.5" y2="35.5" stroke="var(--line)" vectorEffect="non-scaling-stroke" />
        <path
          d={smallMultiplePath(points, { begin, end, top, width: 160, height: 35 })}
          fill="none"
          stroke="var(--accent)"
          strokeWidth="1.5"
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
    </div>
  );
}

interface Frame {
  readonly begin: number;
  readonly end: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Three times the usual distance of two points, or more, is a pause: no line is drawn through it. */
const PAUSE_STEPS = 3;

export function smallMultiplePath(points: readonly MeasuredPoint[], frame: Frame): string {
  const { begin, end, top, width, height } = frame;
  const steps = points.slice(1).map((point, index) => point.time - (points[index]?.time ?? 0));
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const span = Math.max(1e-9, end - begin);
  let path = '';
  let before: MeasuredPoint | undefined;
  for (const point of points) {
    if (point.value === null) {
      before = undefined;
      continue;
    }
    const x = (width * (point.time - begin)) / span;
    const y = height - (height - 2) * Math.min(1, point.value / top);
    const isJoined = before !== undefined && point.time - before.time < PAUSE_STEPS * Math.max(usual, 1);
    path += `${isJoined ? 'L' : 'M'}${x.toFixed(1)},${y.toFixed(1)}`;
    before = point;
  }
  return path;
}
