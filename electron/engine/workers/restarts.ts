const RESTARTS_WITHOUT_PROGRESS = 3;

/** Starts a process again that has died, with back-off; after three restarts without progress it does not. */
export class Restarts {
  private readonly start: () => void;
  private readonly baseDelayMs: number;
  private deathsWithoutProgress = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(start: () => void, baseDelayMs: number) {
    this.start = start;
    this.baseDelayMs = baseDelayMs;
  }

  progress(): void {
    this.deathsWithoutProgress = 0;
  }

  /** What it died of, or is about to, stays as it is. */
  giveUp(): void {
    this.deathsWithoutProgress = Number.POSITIVE_INFINITY;
  }

  /** The attempt of its next start; null if it isn't started again. */
  died(): number | null {
    this.deathsWithoutProgress += 1;
    if (this.deathsWithoutProgress > RESTARTS_WITHOUT_PROGRESS) return null;
    this.timer = setTimeout(this.start, this.baseDelayMs * 2 ** (this.deathsWithoutProgress - 1));
    return this.deathsWithoutProgress;
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}
