interface ThroughputTotal {
  /** Seconds since the epoch. */
  readonly time: number;
  /** Null between two points that a pause or an outage lies between. */
  readonly total: number | null;
}

/** Points come every ten seconds while a run computes: more than this between two is a pause. */
const PAUSE_SECONDS = 35;

/** From the last point before a pause or an outage to the first one after it. */
export function gapsBetween(points: readonly ThroughputTotal[]): { from: number; to: number }[] {
  return points.flatMap(({ total }, index) => {
    const [before, after] = [points[index - 1], points[index + 1]];
    return total === null && before && after ? [{ from: before.time, to: after.time }] : [];
  });
}

/** Sum over the devices, averaged over equal numbers of points where there are more than the chart can show. */
export function totalsOverTime(
  points: readonly { time: number; residuesPerSecond: Record<string, number> }[],
  mostPoints: number,
): ThroughputTotal[] {
  const perPoint = Math.max(1, Math.ceil(points.length / mostPoints));
  const totals: ThroughputTotal[] = [];
  let group: { time: number; total: number }[] = [];
  const closeGroup = () => {
    const [first] = group;
    if (!first) return;
    totals.push({ time: first.time, total: group.reduce((sum, { total }) => sum + total, 0) / group.length });
    group = [];
  };
  for (const [index, { time, residuesPerSecond }] of points.entries()) {
    const before = points[index - 1];
    if (before && time - before.time > PAUSE_SECONDS) {
      closeGroup();
      totals.push({ time: (before.time + time) / 2, total: null });
    }
    group.push({ time, total: Object.values(residuesPerSecond).reduce((sum, speed) => sum + speed, 0) });
    if (group.length === perPoint) closeGroup();
  }
  closeGroup();
  return totals;
}
