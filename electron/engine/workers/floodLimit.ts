import type { z } from 'zod';
import type { logSchema } from '../../contract/protocol/index.ts';

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

/** Messages of a process go into the run's database and log, and to every window. */
const NOTES_AT_ONCE = 100;
const NOTES_PER_SECOND = 0.2;
const LONGEST_NOTE = 2_000;

type Level = 'info' | 'warning' | 'error';

/** What a process has to say to people, of which no more is passed on than they can read. */
export class BoundedNotes {
  private readonly limit = new FloodLimit(NOTES_AT_ONCE, NOTES_PER_SECOND);
  private readonly emit: (level: Level, message: string) => void;

  constructor(emit: (level: Level, message: string) => void) {
    this.emit = emit;
  }

  add(level: z.infer<typeof logSchema>['level'], message: string): void {
    const verdict = this.limit.take(performance.now());
    if (verdict === 'pass') this.emit(level === 'debug' ? 'info' : level, message.slice(0, LONGEST_NOTE));
    else if (verdict === 'first_dropped')
      this.emit('warning', 'It says more than can be kept; some of what it says is left out.');
  }
}
