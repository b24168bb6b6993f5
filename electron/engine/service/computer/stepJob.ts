import { asAppError } from '../../../contract/errors.ts';
import type { Message } from '../../../contract/messages.ts';
import type { StepProgress } from '../../../contract/rpc/computer.ts';
import { LiveTopic } from '../changes.ts';

/** A page that is reloading must not lose a download of gigabytes. */
const FOLLOWERLESS_MS = 30_000;
const INTERVAL_MS = 250;

export type StepWork = (tell: (progress: StepProgress) => void, signal: AbortSignal) => Promise<void>;

/**
 * A long job that any number of windows can follow: a request while it runs joins it. It is cancelled when
 * nobody has followed it for half a minute, unless it is to continue without followers.
 */
export class StepJob {
  private readonly work: StepWork;
  private readonly outlivesFollowers: boolean;
  private readonly topic: LiveTopic<StepProgress>;
  private readonly abort = new AbortController();
  private progress: StepProgress;
  private followers = 0;
  private givingUp: NodeJS.Timeout | undefined;
  readonly ended: Promise<void>;

  constructor(title: Message, work: StepWork, { outlivesFollowers = false } = {}) {
    this.work = work;
    this.outlivesFollowers = outlivesFollowers;
    this.progress = { step: title.text, wording: title.wording, stepNumber: 1, stepCount: 1, fraction: null, line: '', finished: false, error: null }; // prettier-ignore
    this.topic = new LiveTopic({ take: () => this.progress, intervalMs: INTERVAL_MS });
    this.ended = this.run();
  }

  async *follow(signal?: AbortSignal): AsyncGenerator<StepProgress, void> {
    this.followers += 1;
    clearTimeout(this.givingUp);
    try {
      for await (const progress of this.topic.watch(signal)) {
        yield progress;
        if (progress.finished) return;
      }
    } finally {
      this.followers -= 1;
      if (this.followers === 0 && !this.progress.finished && !this.outlivesFollowers) {
        this.givingUp = setTimeout(() => {
          this.cancel();
        }, FOLLOWERLESS_MS);
      }
    }
  }

  cancel(): void {
    clearTimeout(this.givingUp);
    this.abort.abort();
  }

  private async run(): Promise<void> {
    try {
      await this.work((progress) => {
        this.tell(progress);
      }, this.abort.signal);
      if (!this.progress.finished) this.tell({ ...this.progress, fraction: 1, finished: true });
    } catch (reason) {
      this.tell({ ...this.progress, finished: true, error: asAppError(reason) });
    }
  }

  private tell(progress: StepProgress): void {
    this.progress = progress;
    this.topic.changed();
  }
}
