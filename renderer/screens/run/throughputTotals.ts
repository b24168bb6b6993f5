export interface ThroughputTotal {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly total: number;
}

/** Sum over the devices, averaged over equal stretches where there are more points than can be told apart. */
export function totalsOverTime(
  points: readonly { time: number; residuesPerSecond: Record<string, number> }[],
  mostPoints: number,
): ThroughputTotal[] {
  const totals = points.map((point) => ({
    time: point.time,
    total: Object.values(point.residuesPerSecond).reduce((sum, speed) => sum + speed, 0),
  }));
  const perPoint = Math.ceil(totals.length / mostPoints);
  if (perPoint <= 1) return totals;
  const averaged: ThroughputTotal[] = [];
  for (let begin = 0; begin < totals.length; begin += perPoint) {
    const stretch = totals.slice(begin, begin + perPoint);
    averaged.push({
      time: stretch[0]?.time ?? 0,
      total: stretch.reduce((sum, point) => sum + point.total, 0) / stretch.length,
    });
  }
  return averaged;
}
