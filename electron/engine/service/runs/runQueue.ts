/** Callbacks that the queue needs. */
interface QueueWork {
  /** Starts the run and resolves when it has stopped, for whatever reason. */
  run: (runId: string) => Promise<void>;
  /** The waiting runs, or the running one, have changed. */
  changed: (waiting: readonly string[]) => void;
}

/** Runs that wait for the GPUs, in order; one at a time is computed. */
export class RunQueue {
  private readonly work: QueueWork;
  private waiting: string[];
  private atWork: { runId: string; ended: Promise<void> } | undefined;
  /**
   * After a start of the program, or a pause, nothing begins by itself: the user decides when the GPUs may be
   * used.
   */
  private held = true;
  private closed = false;

  constructor(waiting: readonly string[], work: QueueWork) {
    this.waiting = [...waiting];
    this.work = work;
  }

  get active(): string | null {
    return this.atWork?.runId ?? null;
  }

  get order(): readonly string[] {
    return this.waiting;
  }

  /** Whether nothing begins by itself. */
  get isHeld(): boolean {
    return this.held;
  }

  /** Position among the waiting runs, from 0; null for a run that doesn't wait. */
  position(runId: string): number | null {
    const index = this.waiting.indexOf(runId);
    return index < 0 ? null : index;
  }

  /** The running run may be added: it was paused, is being closed, and then begins again. */
  add(runId: string, place: 'first' | 'last'): void {
    const others = this.waiting.filter((other) => other !== runId);
    this.waiting = place === 'first' ? [runId, ...others] : [...others, runId];
    this.held = false;
    this.tell();
    this.startNext();
  }

  /** Removes a waiting run; false if it didn't wait. */
  remove(runId: string): boolean {
    if (this.position(runId) === null) return false;
    this.waiting = this.waiting.filter((other) => other !== runId);
    this.tell();
    return true;
  }

  /** The user wants the GPUs for something else: nothing begins until a run is added or resumed. */
  hold(): void {
    this.held = true;
  }

  move(runId: string, position: number): boolean {
    if (this.position(runId) === null) return false;
    this.waiting = this.waiting.filter((other) => other !== runId);
    this.waiting.splice(position, 0, runId);
    this.tell();
    return true;
  }

  /** Starts nothing any more; resolves when the running run has stopped. */
  async close(): Promise<void> {
    this.closed = true;
    await this.atWork?.ended;
  }

  private startNext(): void {
    if (this.closed || this.held || this.atWork) return;
    const runId = this.waiting.shift();
    if (runId === undefined) return;
    // Even if this run failed, the next one starts.
    const ended = this.work
      .run(runId)
      .catch(() => undefined)
      .finally(() => {
        this.atWork = undefined;
        this.tell();
        this.startNext();
      });
    this.atWork = { runId, ended };
    this.tell();
  }

  private tell(): void {
    this.work.changed(this.waiting);
  }
}
