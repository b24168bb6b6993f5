/** Lets a burst through at once, and a fixed number a second after that. */
export class FloodLimit {
  private readonly most: number;
  private readonly perSecond: number;
  private left: number;
  private lastAt: number | null = null;
  private dropping = false;

  constructor(most: number, perSecond: number) {
    this.most = most;
    this.perSecond = perSecond;
    this.left = most;
  }

  /** `first_dropped`: the first of some that are dropped. */
  take(now: number): 'pass' | 'first_dropped' | 'dropped' {
    const seconds = Math.max(0, now - (this.lastAt ?? now)) / 1000;
    this.left = Math.min(this.most, this.left + seconds * this.perSecond);
    this.lastAt = now;
    if (this.left >= 1) {
      this.left -= 1;
      this.dropping = false;
      return 'pass';
    }
    const verdict = this.dropping ? 'dropped' : 'first_dropped';
    this.dropping = true;
    return verdict;
  }
}
