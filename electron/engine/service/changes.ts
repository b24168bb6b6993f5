import { EventEmitter, on } from 'node:events';

interface LiveTopicOptions<Snapshot> {
  /** Takes a full snapshot. Called only while somebody watches. */
  take: () => Snapshot | Promise<Snapshot>;
  /** Least time between two snapshots. */
  intervalMs: number | (() => number);
  /** Whether to check at every interval for changes that are not announced. */
  polls?: () => boolean;
}

/**
 * Full snapshots for any number of watchers: the newest one at once, then another after each change, one at a
 * time and never more often than the interval. A slow watcher skips snapshots. Without watchers nothing is
 * done.
 */
export class LiveTopic<Snapshot> {
  private readonly options: LiveTopicOptions<Snapshot>;
  private readonly watchers = new Set<() => void>();
  private newest: { version: number; snapshot: Snapshot; text: string } | undefined;
  private failure: { reason: unknown } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private taking: Promise<void> | undefined;
  private closed = false;
  private stale = true;
  private lastTaken = Number.NEGATIVE_INFINITY;
  private nextVersion = 0;

  constructor(options: LiveTopicOptions<Snapshot>) {
    this.options = options;
  }

  get watched(): boolean {
    return this.watchers.size > 0;
  }

  /** Call it when something that the snapshot shows may have changed. */
  changed(): void {
    this.stale = true;
    this.plan();
  }

  /** Ends all watching; resolves when no snapshot is being taken any more. */
  async close(): Promise<void> {
    this.closed = true;
    this.rest();
    this.wakeAll();
    await this.taking;
  }

  async *watch(signal?: AbortSignal): AsyncGenerator<Snapshot, void> {
    let seen = -1;
    let wake: () => void = () => undefined;
    const woken = (): void => {
      wake();
    };
    // A snapshot from before anybody watched may be outdated.
    if (!this.watched) this.forget();
    this.watchers.add(woken);
    signal?.addEventListener('abort', woken);
    this.plan();
    try {
      while (!signal?.aborted && !this.closed) {
        if (this.failure) throw this.failure.reason;
        if (this.newest && this.newest.version > seen) {
          seen = this.newest.version;
          yield this.newest.snapshot;
          continue;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      this.watchers.delete(woken);
      signal?.removeEventListener('abort', woken);
      if (!this.watched) this.rest();
    }
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private forget(): void {
    this.newest = undefined;
    this.failure = undefined;
    this.stale = true;
  }

  private plan(): void {
    if (this.closed || !this.watched || this.taking || this.timer) return;
    if (!this.stale && this.options.polls?.() !== true) return;
    const { intervalMs } = this.options;
    const interval = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    const wait = Math.max(0, this.lastTaken + interval - performance.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.taking = this.takeOne().finally(() => {
        this.taking = undefined;
        this.plan();
      });
    }, wait);
  }

  private async takeOne(): Promise<void> {
    this.stale = false;
    this.lastTaken = performance.now();
    try {
      const snapshot = await this.options.take();
      const text = JSON.stringify(snapshot);
      if (text !== this.newest?.text) {
        this.newest = { version: this.nextVersion, snapshot, text };
        this.nextVersion += 1;
        this.wakeAll();
      }
    } catch (reason) {
      this.failure = { reason };
      this.wakeAll();
    }
  }

  private wakeAll(): void {
    for (const wake of [...this.watchers]) wake();
  }
}

/** Turns a function that reports through a callback into a stream. It ends with the function; leaving the loop aborts the function. */
export async function* callbackStream<Event>(
  produce: (tell: (event: Event) => void, signal: AbortSignal) => Promise<unknown>,
  outer?: AbortSignal,
): AsyncGenerator<Event, void> {
  const abort = new AbortController();
  const signal = outer ? AbortSignal.any([outer, abort.signal]) : abort.signal;
  const teller = new EventEmitter<{ told: [Event]; ended: []; error: [unknown] }>();
  const told = on(teller, 'told', { close: ['ended'] }) as AsyncIterable<[Event]>;
  produce((event) => teller.emit('told', event), signal)
    .then(
      () => teller.emit('ended'),
      (reason: unknown) => teller.emit('error', reason),
    )
    // Nobody listens any more.
    .catch(() => undefined);
  try {
    for await (const [event] of told) yield event;
  } finally {
    abort.abort();
  }
}

/** Listeners to be called on a change. */
export class Listeners<Values extends readonly unknown[]> {
  private readonly all = new Set<(...values: Values) => void>();

  /** Adds a listener and returns a function that removes it. */
  add(listener: (...values: Values) => void): () => void {
    this.all.add(listener);
    return () => {
      this.all.delete(listener);
    };
  }

  tell(...values: Values): void {
    for (const listener of this.all) listener(...values);
  }
}
