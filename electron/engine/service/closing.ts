import { usage } from './failures.ts';

/** The calls of all windows that have not been answered yet, so that a closing engine can wait for them. */
export class CallsUnderWay {
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  async run<Answer>(work: () => Answer): Promise<Awaited<Answer>> {
    if (this.closed) throw usage('The program is being closed.');
    const answer = Promise.resolve(work());
    this.underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.underWay.delete(answer);
    }
  }

  /** Accepts no more calls; resolves when the pending ones have ended. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
  }
}

/** Whether work ends within this time, successfully or not. */
export async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      resolve(false);
    }, milliseconds);
  });
  const ended = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  clearTimeout(timer);
  return ended;
}
