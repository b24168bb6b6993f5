const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MOST_TICKS = 6;

export interface TimePoint {
  /** Seconds since the epoch. */
  readonly time: number;
  /** Null if nothing was measured. */
  readonly value: number | null;
}

/** Measurements are at most ten seconds apart, or evenly spread in long runs. A wider break means a pause. */
const SHORTEST_PAUSE_S = 35;
const PAUSE_STEPS = 3;

/** Inserts a null between two points on either side of a pause or an outage, so that no line is drawn across it. */
export function withPauses(points: readonly TimePoint[]): TimePoint[] {
  const steps = points.slice(1).map((point, index) => point.time - (points[index]?.time ?? 0));
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const pause = Math.max(SHORTEST_PAUSE_S, PAUSE_STEPS * usual);
  return points.flatMap((point, index) => {
    const before = points[index - 1];
    return before && point.time - before.time > pause
      ? [{ time: (before.time + point.time) / 2, value: null }, point]
      : [point];
  });
}

/** Each gap, from the last point before a pause to the first one after it. */
export function gapsBetween(points: readonly TimePoint[]): { from: number; to: number }[] {
  return points.flatMap(({ value }, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    return value === null && before && after ? [{ from: before.time, to: after.time }] : [];
  });
}

/** The speed of all devices together, whose points are at the same times. */
export function totalsOverTime(
  devices: readonly { points: readonly { time: number; residuesPerSecond: number | null }[] }[],
): TimePoint[] {
  const sums = new Map<number, number>();
  for (const { time, residuesPerSecond } of devices.flatMap(({ points }) => points))
    if (residuesPerSecond !== null) sums.set(time, (sums.get(time) ?? 0) + residuesPerSecond);
  return withPauses([...sums].map(([time, value]) => ({ time, value })).toSorted((a, b) => a.time - b.time));
}

/** Round times from 0 to `seconds`, few enough for their labels to fit side by side. */
export function timeTicks(seconds: number, most = MOST_TICKS): number[] {
  const step =
    TIME_STEPS.find((candidate) => seconds / candidate < most) ?? Math.ceil(seconds / most / 86_400) * 86_400;
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
}
