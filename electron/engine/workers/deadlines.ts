import type { Heartbeat } from '../../contract/protocol/index.ts';

export interface DeadlineLimits {
  /** Time for `hello`: the interpreter and its libraries start. */
  helloMs: number;
  /** Time for `ready`: weights are read, kernels compiled. */
  loadMs: number;
  /** Time without any message, after which a worker is silent. */
  silentMs: number;
  /** Least time that one step may take, whatever was expected. */
  stepFloorMs: number;
}

export const DEADLINES: DeadlineLimits = {
  helloMs: 120_000,
  loadMs: 900_000,
  silentMs: 60_000,
  stepFloorMs: 120_000,
};

const LOOK_INTERVAL_MS = 1_000;
/** A look at the clock that comes later than this was held up by something other than the worker. */
const HELD_UP_MS = 10_000;
const STEP_PATIENCE = 10;
const WORKING_STEPS: ReadonlySet<Heartbeat['step']> = new Set(['reading', 'computing', 'writing']);

/** Looks at the clock every second, to see whether somebody is late. Nobody is to blame for the time that it was held up itself. */
export class RegularLook {
  private readonly timer: NodeJS.Timeout;
  private lastAt = performance.now();

  /** `heldUpMs` is 0 but where the computer slept meanwhile, or this program had no time. */
  constructor(look: (now: number, heldUpMs: number) => void) {
    this.timer = setInterval(() => {
      const now = performance.now();
      const sinceLastMs = now - this.lastAt;
      this.lastAt = now;
      look(now, sinceLastMs > HELD_UP_MS ? sinceLastMs : 0);
    }, LOOK_INTERVAL_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }
}

/** What a worker did not do in time: as an error, and as it follows its name. */
interface DeadlineMissed {
  readonly code: 'worker_silent' | 'worker_stalled';
  readonly words: string;
}

/** Watches a worker that starts or loads: it has so long for it. */
export class StartWatch {
  private readonly limitMs: number;
  private since: number;

  constructor(limitMs: number, now: number) {
    this.limitMs = limitMs;
    this.since = now;
  }

  /** See ProgressWatch. */
  forgive(milliseconds: number): void {
    this.since += milliseconds;
  }

  missed(now: number): DeadlineMissed | undefined {
    if (now - this.since <= this.limitMs) return undefined;
    return { code: 'worker_silent', words: `was not ready after ${Math.round(this.limitMs / 1000)} s` };
  }
}

/**
 * Tells a worker at work from one that only beats: besides signs of life it watches that steps get finished, each within
 * ten times what such steps have taken so far, and 120 s at least. So it does while a worker holds parts and says that it is
 * idle.
 */
export class ProgressWatch {
  private readonly limits: DeadlineLimits;
  private lastMessageAt: number;
  private lastStepAt: number;
  private stepsDone = -1;
  private working = false;
  private holding = false;
  private longestStepMs = 0;

  constructor(limits: DeadlineLimits, now: number) {
    this.limits = limits;
    this.lastMessageAt = now;
    this.lastStepAt = now;
  }

  /** The computer slept, or this program was held up: the time that passed meanwhile says nothing of the worker. */
  forgive(milliseconds: number): void {
    this.lastMessageAt += milliseconds;
    this.lastStepAt += milliseconds;
  }

  message(now: number): void {
    this.lastMessageAt = now;
  }

  /** Whether the worker has parts to compute. */
  holds(parts: number, now: number): void {
    if (parts > 0 && !this.holding) this.lastStepAt = now;
    this.holding = parts > 0;
  }

  heartbeat(beat: Pick<Heartbeat, 'step' | 'steps_done'>, now: number): void {
    const working = WORKING_STEPS.has(beat.step);
    const busy = working || this.holding;
    if (beat.steps_done !== this.stepsDone || !busy || (working && !this.working)) {
      if (working && this.working) this.longestStepMs = Math.max(this.longestStepMs, now - this.lastStepAt);
      this.stepsDone = beat.steps_done;
      this.lastStepAt = now;
    }
    this.working = working;
  }

  missed(now: number): DeadlineMissed | undefined {
    if (now - this.lastMessageAt > this.limits.silentMs)
      return { code: 'worker_silent', words: 'stopped answering' };
    const patience = Math.max(this.limits.stepFloorMs, STEP_PATIENCE * this.longestStepMs);
    if ((this.working || this.holding) && now - this.lastStepAt > patience)
      return { code: 'worker_stalled', words: 'answers, but its work does not advance' };
    return undefined;
  }
}
