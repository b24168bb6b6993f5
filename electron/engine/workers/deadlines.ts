import type { Heartbeat } from '../../contract/protocol/index.ts';

export interface DeadlineLimits {
  /** Time until `hello`: the interpreter and its libraries start. */
  helloMs: number;
  /** Time until `ready`: weights are read and kernels compiled. */
  loadMs: number;
  /** A worker that sends no message for this long counts as silent. */
  silentMs: number;
  /** Minimum time allowed for one step, whatever was expected. */
  stepFloorMs: number;
}

export const DEADLINES: DeadlineLimits = {
  helloMs: 120_000,
  loadMs: 900_000,
  silentMs: 60_000,
  stepFloorMs: 120_000,
};

/** For computers so slow or so busy that the usual deadlines would end a healthy worker. */
export function patientDeadlines(usual: DeadlineLimits, patience: number): DeadlineLimits {
  return {
    helloMs: patience * usual.helloMs,
    loadMs: patience * usual.loadMs,
    silentMs: patience * usual.silentMs,
    stepFloorMs: patience * usual.stepFloorMs,
  };
}

const LOOK_INTERVAL_MS = 1_000;
/** If a check of the clock is later than this, something other than the worker delayed it. */
const HELD_UP_MS = 10_000;
const STEP_PATIENCE = 10;
/** Of the time after which a worker is restarted: users see beforehand that it stalls. */
const NOTABLE_STALL = 0.5;
const WORKING_STEPS: ReadonlySet<Heartbeat['step']> = new Set(['reading', 'computing', 'writing']);

/**
 * Checks the clock every second, to see whether a deadline has passed. Delays of the check itself are not
 * counted against anybody.
 */
export class RegularLook {
  private readonly timer: NodeJS.Timeout;
  private lastAt = performance.now();

  /** `heldUpMs` is 0 unless the computer slept in between, or this program got no processor time. */
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

/** What a worker did not do in time, as an error code and as words that follow the worker's name. */
interface DeadlineMissed {
  readonly code: 'worker_silent' | 'worker_stalled';
  readonly words: string;
}

/** Watches a worker that starts or loads, for which its time is limited. */
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
 * Even a worker that waits for something that never comes uses some processor time: one millisecond for each
 * sign of life.
 */
const COMPUTED_MS = 1_000;

/**
 * Distinguishes a working worker from one that only sends signs of life: each step must finish within ten
 * times the duration of the longest one so far, but always gets at least 120 s. Time in which other programs
 * or a slow processor kept the worker from computing does not count: a step may use that much processor time,
 * however long it takes by the clock, and only a worker that uses hardly any processor time is judged by the
 * clock. A worker that holds parts and reports that it is idle is watched in the same way.
 */
export class ProgressWatch {
  private readonly limits: DeadlineLimits;
  private lastMessageAt: number;
  private lastStepAt: number;
  /** The last time at which the process was seen to compute. */
  private computedAt: number;
  private processorMs = 0;
  private processorMsAtStep = 0;
  private processorMsThen = 0;
  private stepsDone = -1;
  private working = false;
  private holding = false;
  private longestStepMs = 0;

  constructor(limits: DeadlineLimits, now: number) {
    this.limits = limits;
    this.lastMessageAt = now;
    this.lastStepAt = now;
    this.computedAt = now;
  }

  /**
   * The computer slept, or this program was delayed: the time that passed is no evidence against the worker.
   */
  forgive(milliseconds: number): void {
    this.lastMessageAt += milliseconds;
    this.lastStepAt += milliseconds;
    this.computedAt += milliseconds;
  }

  message(now: number): void {
    this.lastMessageAt = now;
  }

  /** Records whether the worker has parts to compute. */
  holds(parts: number, now: number): void {
    if (parts > 0 && !this.holding) this.beginStep(now);
    this.holding = parts > 0;
  }

  heartbeat(beat: Pick<Heartbeat, 'step' | 'steps_done' | 'processor_seconds'>, now: number): void {
    this.processorMs = 1000 * beat.processor_seconds;
    if (this.processorMs - this.processorMsThen >= COMPUTED_MS) {
      this.computedAt = now;
      this.processorMsThen = this.processorMs;
    }
    const working = WORKING_STEPS.has(beat.step);
    const busy = working || this.holding;
    if (beat.steps_done !== this.stepsDone || !busy || (working && !this.working)) {
      if (working && this.working) this.longestStepMs = Math.max(this.longestStepMs, now - this.lastStepAt);
      this.stepsDone = beat.steps_done;
      this.beginStep(now);
    }
    this.working = working;
  }

  missed(now: number): DeadlineMissed | undefined {
    if (now - this.lastMessageAt > this.limits.silentMs)
      return { code: 'worker_silent', words: 'stopped answering' };
    return this.stalledFor(now) > 1
      ? { code: 'worker_stalled', words: 'answers, but its work does not advance' }
      : undefined;
  }

  /** Whether it holds work and has not advanced for long, although not for so long that it is restarted. */
  stalls(now: number): boolean {
    const silence = this.working || this.holding ? (now - this.lastMessageAt) / this.limits.silentMs : 0;
    return Math.max(silence, this.stalledFor(now)) > NOTABLE_STALL;
  }

  /** How long a step has not advanced, as a share of the time that it may take. */
  private stalledFor(now: number): number {
    if (!this.working && !this.holding) return 0;
    const patience = Math.max(this.limits.stepFloorMs, STEP_PATIENCE * this.longestStepMs);
    const waited = now - Math.max(this.lastStepAt, this.computedAt);
    const computed = Math.min(now - this.lastStepAt, this.processorMs - this.processorMsAtStep);
    return Math.max(waited, computed) / patience;
  }

  private beginStep(now: number): void {
    this.lastStepAt = now;
    this.processorMsAtStep = this.processorMs;
  }
}
