export interface MeasuredPoint {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly value: number | null;
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
