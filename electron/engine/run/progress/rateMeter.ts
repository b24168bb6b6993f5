/** Amounts over time, and their rate over a recent window. */
export class RateMeter {
  private readonly windowMs: number;
  private readonly points: { at: number; total: number }[] = [];
  private total = 0;

  constructor(windowMs = 60_000) {
    this.windowMs = windowMs;
  }

  add(amount: number, now: number): void {
    if (this.points.length === 0) this.points.push({ at: now, total: this.total });
    this.total += amount;
    this.points.push({ at: now, total: this.total });
    while (this.points.length > 2 && now - (this.points[1]?.at ?? now) > this.windowMs) this.points.shift();
  }

  /** Units per second over the window; null without enough data. */
  rate(now: number): number | null {
    const [first] = this.points;
    if (!first || this.points.length < 2) return null;
    const seconds = (now - first.at) / 1000;
    return seconds > 0.5 ? (this.total - first.total) / seconds : null;
  }

  /** Discards earlier data, for example after a pause or a sleep of the computer. */
  reset(): void {
    this.points.length = 0;
  }
}
